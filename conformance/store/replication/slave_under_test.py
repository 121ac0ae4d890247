"""
A slave whose master is a script: what it is started with, and what it was sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.client.requests.messages import now_ms
from conformance.harness.pytest_plugin.fixtures import another_target, need
from conformance.harness.targets.target import Capability, Target
from conformance.store.replication.fake_master import FakeMaster, SlaveLink, record
from spec.routing.broker_registration import BrokerIdentity
from spec.routing.topic_config import DataVersion, TopicConfig, TopicTable
from spec.wire.ha.slave import SETTINGS_NAME_THE_MASTER

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
TOPIC = "BenchmarkTest"
"""Every broker has it: since 4.9 a slave takes no topics but its master's."""
MESSAGES = 5


@dataclass(slots=True, kw_only=True)
class Followed:
    """A slave whose log the script has written so far."""

    target: Target
    master: FakeMaster
    end: int
    """Physical end of the slave's log."""
    reported: list[int]
    """Offsets that the slave reported while its first pieces arrived."""
    first: bytes
    """The records that it was sent first, all of one queue."""
    log: bytes
    """All that it was sent, from the beginning of its first file on."""

    def link(self) -> SlaveLink:
        """Return a connection on which the slave has named the end of its log."""
        link = self.master.accept()
        found = link.report()
        assert found == self.end, f"the slave names {found}, its log ends at {self.end}"
        return link


@contextmanager
def followed_slave(pytestconfig: pytest.Config, target: Target) -> Iterator[Followed]:
    """Yield a slave that got its first file, piece by piece, records cut anywhere."""
    with new_slave(pytestconfig, target) as (own, master):
        log = first_records()
        reported, end = [], LOG_FILE_SIZE
        with closing(master.accept()) as link:
            reported.append(link.report())
            for begin, stop in pairwise((0, 3, 200, len(log) - 30, len(log))):
                end = link.send(LOG_FILE_SIZE + begin, log[begin:stop])
                reported += link.report_until(end)
        yield Followed(
            target=own, master=master, end=end, reported=reported, first=log, log=log
        )


@contextmanager
def new_slave(
    pytestconfig: pytest.Config, target: Target, conf: Mapping[str, str] | None = None
) -> Iterator[tuple[Target, FakeMaster]]:
    """Yield a slave without a log, which is going to dial the script beside it.

    *conf* goes over the settings that they all have.
    """
    need(target, Capability.REPLICATION, Capability.CONFIG, Capability.STORE)
    with closing(FakeMaster()) as master:
        conf = {**SETTINGS, **fitting(master, target.release), **(conf or {})}
        with another_target(pytestconfig, conf) as own, introduced(own, master):
            yield own, master


def fitting(master: FakeMaster, release: str) -> dict[str, str]:
    """Return the settings that a slave of this release needs besides."""
    if SETTINGS_NAME_THE_MASTER.applies_to(release):
        return {"haMasterAddress": str(master.address)}
    return {"slaveReadEnable": "true"}


@contextmanager
def introduced(slave: Target, master: FakeMaster) -> Iterator[None]:
    """Register the script as the master in the slave's name server."""
    with slave.connect_to_namesrv() as namesrv:
        identity = BrokerIdentity(
            broker_name=SETTINGS["brokerName"],
            cluster=SETTINGS["brokerClusterName"],
            address="127.0.0.1:9",  # nothing listens here
            ha_address=str(master.address),
        )
        topics = (TopicConfig(topic=name) for name in ("Some", "More"))
        table = TopicTable.of(*topics, version=DataVersion(timestamp_ms=1, counter=1))
        response = namesrv.register_broker(identity, table)
        require_success(response)
        yield


def first_records() -> bytes:
    """Return some records that stand at the beginning of the log's second file."""
    log = b""
    for number in range(MESSAGES):
        at = LOG_FILE_SIZE + len(log)
        log += record(TOPIC, number, at=at, stored_at_ms=now_ms())
    return log
