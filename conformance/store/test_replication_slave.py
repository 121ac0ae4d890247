"""What a slave does with what it is sent: a script that plays the master sends it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise

import pytest

from conformance.harness.asks.messages import now_ms
from conformance.harness.asks.routes import topic_config
from conformance.harness.fixtures import OPTIONS, need
from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import Capability, Target, parse_target
from conformance.harness.verdicts import expect, expect_fields
from conformance.store.fake_master import FakeMaster, SlaveLink, record
from spec.store.file_names import COMMIT_LOG, file_name
from spec.wire.replication_rules import SLAVE_BUFFER_SIZE
from spec.wire.response_code import ResponseCode
from spec.wire.slave import SETTINGS_NAME_THE_MASTER

LOG_FILE_SIZE = 64 * 1024
SETTINGS = {
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    "maxMessageSize": str(16 * 1024),
    "haSendHeartbeatInterval": "300",
    # The script is silent while the slave starts, which may take long.
    "haHousekeepingInterval": "60000",
    "brokerRole": "SLAVE",
    "brokerId": "1",
    "brokerName": "broker-of-two",
    "brokerClusterName": "cluster-of-two",
    "registerNameServerPeriod": "10000",
}
TOPIC = "FromTheMaster"
MESSAGES = 5
COMMIT = 8
COMMITS_OFFSET, BRINGS_SUBSCRIPTION = 1, 4
GROUP = "readers_of_the_slave"
pytestmark = pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG)


@dataclass(slots=True, kw_only=True)
class Followed:
    """A slave whose log the script has written so far."""

    target: Target
    master: FakeMaster
    end: int
    """Where its log ends."""
    said: list[int]
    """What it said while its first pieces came."""
    log: bytes
    """What it was sent, from the beginning of its first file on."""

    def link(self) -> SlaveLink:
        """Return a connection on which the slave has named the end of its log."""
        link = self.master.accept()
        found = link.report()
        assert found == self.end, f"the slave names {found}, its log ends at {self.end}"
        return link


@pytest.fixture(scope="module")
def followed(pytestconfig: pytest.Config, target: Target) -> Iterator[Followed]:
    """Return a slave that got its first file, piece by piece, records cut anywhere."""
    need(target, Capability.REPLICATION, Capability.CONFIG, Capability.STORE)
    options = pytestconfig.stash[OPTIONS]
    with closing(FakeMaster()) as master:
        conf = {**SETTINGS, **fitting(master, target.release)}
        text, profile = options.target, options.profile
        with (
            parse_target(text, profile=profile, conf=conf) as own,
            introduced(own, master),
        ):
            log = first_records()
            said, end = [], LOG_FILE_SIZE
            with closing(master.accept()) as link:
                said.append(link.report())
                for begin, stop in pairwise((0, 3, 200, len(log) - 30, len(log))):
                    end = link.send(LOG_FILE_SIZE + begin, log[begin:stop])
                    said += link.report_until(end)
            yield Followed(target=own, master=master, end=end, said=said, log=log)


def fitting(master: FakeMaster, release: str) -> dict[str, str]:
    """Return the settings that a slave of this release needs besides."""
    if SETTINGS_NAME_THE_MASTER.applies_to(release):
        return {"haMasterAddress": str(master.address)}
    return {"slaveReadEnable": "true"}


@contextmanager
def introduced(slave: Target, master: FakeMaster) -> Iterator[None]:
    """Let the slave's name server know the script as the master."""
    with slave.speak_to_namesrv() as namesrv:
        answer = namesrv.register_broker(
            broker_name=SETTINGS["brokerName"],
            cluster=SETTINGS["brokerClusterName"],
            broker_address="127.0.0.1:9",  # nobody is there
            ha_address=str(master.address),
            topics=[topic_config(topic=name) for name in ("Some", "More")],
        )
        succeeded(answer)
        yield


def first_records() -> bytes:
    """Return some records that stand at the beginning of the log's second file."""
    log = b""
    for number in range(MESSAGES):
        at = LOG_FILE_SIZE + len(log)
        log += record(TOPIC, number, at=at, stored_at_ms=now_ms())
    return log


@pytest.fixture
def broker(followed: Followed) -> Iterator[Speaker]:
    """Yield a connection to the slave."""
    with followed.target.speak_to_broker() as speaker:
        yield speaker


@pytest.fixture
def link(followed: Followed) -> Iterator[SlaveLink]:
    """Yield a connection that the slave has opened and spoken on."""
    with closing(followed.link()) as one:
        yield one


@pytest.mark.clause("HA-TRANSFER-010", "HA-SLAVE-001")
def test_a_slave_names_its_logs_end_after_each_piece(followed: Followed) -> None:
    ends = [LOG_FILE_SIZE + size for size in (3, 200, len(followed.log) - 30)]
    expected = [0, *ends, followed.end]
    found = list(dict.fromkeys(followed.said))
    expect("HA-TRANSFER-010", found=found, expected=expected, what="offsets")


@pytest.mark.clause("HA-TRANSFER-013", "HA-SLAVE-002")
def test_a_slave_without_a_log_begins_where_it_is_told(followed: Followed) -> None:
    assert followed.target.store_path is not None
    files = sorted((followed.target.store_path / COMMIT_LOG).iterdir())
    name = file_name(LOG_FILE_SIZE)
    expect("HA-TRANSFER-013", found=files[0].name, expected=name, what="first file")
    copied = files[0].read_bytes()[: len(followed.log)]
    expect("HA-SLAVE-002", found=copied == followed.log, expected=True, what="same log")


@pytest.mark.clause("HA-SLAVE-014")
def test_a_slave_sends_its_readers_back(broker: Speaker) -> None:
    broker.wait_for_max_offset(topic=TOPIC, offset=MESSAGES)
    succeeded(broker.create_topic(topic=TOPIC, queue_count=1))
    answer = broker.pull(topic=TOPIC, queue_id=0, offset=0, group=GROUP)
    expect("HA-SLAVE-014", found=answer.code, expected=0, what="code of a pull")
    suggested = {"suggestWhichBrokerId": "0"}
    expect_fields("HA-SLAVE-014", found=answer.fields, expected=suggested)


@pytest.mark.clause("HA-SLAVE-003")
def test_a_slave_serves_what_came(followed: Followed, broker: Speaker) -> None:
    broker.wait_for_max_offset(topic=TOPIC, offset=MESSAGES)
    succeeded(broker.create_topic(topic=TOPIC, queue_count=1))
    answer = broker.pull(topic=TOPIC, queue_id=0, offset=0, group=GROUP)
    expect("HA-SLAVE-003", found=answer.code, expected=0, what="code of a pull")
    same = answer.body == followed.log
    expect("HA-SLAVE-003", found=same, expected=True, what="all records, unchanged")


@pytest.mark.clause("HA-SLAVE-009")
def test_a_slave_corrects_no_offset(broker: Speaker) -> None:
    broker.wait_for_max_offset(topic=TOPIC, offset=MESSAGES)
    succeeded(broker.create_topic(topic=TOPIC, queue_count=1))
    answer = broker.pull(topic=TOPIC, queue_id=0, offset=1000, group=GROUP)
    code = ResponseCode.PULL_RETRY_IMMEDIATELY
    expect("HA-SLAVE-009", found=answer.code, expected=code, what="code")
    expect_fields(
        "HA-SLAVE-009", found=answer.fields, expected={"nextBeginOffset": "1000"}
    )


@pytest.mark.clause("HA-SLAVE-017")
def test_a_slave_that_may_not_be_read_refuses_pulls(broker: Speaker) -> None:
    succeeded(broker.update_broker_config({"slaveReadEnable": "false"}))
    answer = broker.pull(topic=TOPIC, queue_id=0, offset=0, group=GROUP)
    succeeded(broker.update_broker_config({"slaveReadEnable": "true"}))
    code = ResponseCode.SYSTEM_BUSY
    expect("HA-SLAVE-017", found=answer.code, expected=code, what="code")


@pytest.mark.clause("HA-SLAVE-010")
def test_a_slave_commits_nothing_by_a_pull(broker: Speaker) -> None:
    succeeded(broker.create_topic(topic=TOPIC, queue_count=1))
    succeeded(broker.update_group(group=GROUP))
    flags = COMMITS_OFFSET | BRINGS_SUBSCRIPTION
    broker.pull(topic=TOPIC, offset=0, group=GROUP, commit_offset=3, system_flags=flags)
    answer = broker.query_offset(group=GROUP, topic=TOPIC)
    found = answer.fields.get("offset") == "3"
    expect("HA-SLAVE-010", found=found, expected=False, what="committed")


@pytest.mark.clause("TXN-END-016")
def test_a_slave_ends_no_transaction(broker: Speaker) -> None:
    answer = broker.end_transaction(
        group="nobody",
        commit_log_offset=LOG_FILE_SIZE,
        queue_offset=0,
        decision=COMMIT,
        message_id="",
    )
    code = ResponseCode.SLAVE_NOT_AVAILABLE
    expect("TXN-END-016", found=answer.code, expected=code, what="code")


@pytest.mark.clause("HA-TRANSFER-009", "HA-TRANSFER-016")
@pytest.mark.parametrize("distance", [-1, 1, LOG_FILE_SIZE])
def test_a_slave_hangs_up_where_a_piece_begins_elsewhere(
    followed: Followed, link: SlaveLink, distance: int
) -> None:
    link.send(followed.end + distance, b"elsewhere")
    expect("HA-TRANSFER-009", found=link.is_closed(), expected=True, what="hung up")
    with closing(followed.link()) as again:
        again.send(followed.end)  # a sign of life is no reason
        found = set(again.reports_in(1.5))
    expect("HA-TRANSFER-016", found=found, expected={followed.end}, what="offsets")


@pytest.mark.clause("HA-TRANSFER-015", "HA-TRANSFER-010")
def test_a_slave_names_nothing_that_it_does_not_have(
    followed: Followed, link: SlaveLink
) -> None:
    at = followed.end
    data = record(TOPIC, MESSAGES, at=at, stored_at_ms=now_ms())
    whole = at.to_bytes(8, "big") + len(data).to_bytes(4, "big") + data
    link.send_bytes(whole[:-1])
    found = link.reports_in(2.0)
    expect("HA-TRANSFER-010", found=bool(found), expected=True, what="it is alive")
    expect("HA-TRANSFER-015", found=set(found), expected={at}, what="offsets")
    link.send_bytes(whole[-1:])
    followed.end = at + len(data)
    followed.log += data
    assert link.report_until(followed.end)[-1] == followed.end


@pytest.mark.clause("HA-SLAVE-011")
def test_a_slave_delivers_nothing(followed: Followed, link: SlaveLink) -> None:
    long_ago_ms = now_ms() - 60_000
    data = record("", 0, at=followed.end, stored_at_ms=long_ago_ms, delayed=TOPIC)
    followed.end = link.send(followed.end, data)
    followed.log += data
    # It would be due at once, and its delivery would make the log longer.
    found = [link.report(), *link.reports_in(3.0)]
    expect("HA-SLAVE-011", found=set(found), expected={followed.end}, what="ends")


@pytest.mark.clause("HA-SLAVE-015")
def test_settings_that_name_the_master_have_no_effect(
    pytestconfig: pytest.Config, target: Target
) -> None:
    need(target, Capability.REPLICATION, Capability.CONFIG)
    options = pytestconfig.stash[OPTIONS]
    with closing(FakeMaster()) as master:
        text, conf = (
            options.target,
            {**SETTINGS, "haMasterAddress": str(master.address)},
        )
        with parse_target(text, profile=options.profile, conf=conf):
            found = master.is_dialled(timeout_s=15.0)
    expect("HA-SLAVE-015", found=found, expected=False, what="connected")


@pytest.mark.clause("HA-TRANSFER-017")
def test_a_slave_hangs_up_on_a_silent_master(
    pytestconfig: pytest.Config, target: Target
) -> None:
    need(target, Capability.REPLICATION, Capability.CONFIG)
    options = pytestconfig.stash[OPTIONS]
    with closing(FakeMaster()) as master:
        text, conf = options.target, {**SETTINGS, "haHousekeepingInterval": "3000"}
        with (
            parse_target(text, profile=options.profile, conf=conf) as slave,
            introduced(slave, master),
            closing(master.accept()) as link,
        ):
            found = link.is_closed()
    expect("HA-TRANSFER-017", found=found, expected=True, what="hung up")


# These come last: after a size next to 2**31 a slave of 4.6.0 follows nobody until it
# is started again: it runs out of memory, and its thread ends.
@pytest.mark.clause("HA-TRANSFER-014")
@pytest.mark.parametrize("size", [-1, -(2**31), SLAVE_BUFFER_SIZE, 2**31 - 1])
def test_a_slave_takes_no_impossible_piece(
    followed: Followed, link: SlaveLink, size: int
) -> None:
    head = followed.end.to_bytes(8, "big", signed=True)
    link.send_bytes(head + size.to_bytes(4, "big", signed=True) + bytes(64))
    found = {followed.end, *link.reports_in(2.0)}
    expect("HA-TRANSFER-014", found=found, expected={followed.end}, what="offsets")
