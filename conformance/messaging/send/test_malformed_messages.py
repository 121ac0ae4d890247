"""
Malformed messages of system topics stop no good message before or behind them.

Tables list the properties that a broker reads from its system topics, each with bad
values. All of a table are sent between two good messages. A third good message follows
a restart. Each good message arrives exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    another_target,
    create_topic,
    need,
)
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.stored_messages import records_of
from conformance.messaging.transactions.half import send_half
from conformance.messaging.transactions.transaction_checks import (
    FREQUENT_CHECKS,
    join,
    old,
    question,
)
from spec.store.message_record import decode_record
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC, SCHEDULE_TOPIC
from spec.wire.message.transactions import Decision

pytestmark = pytest.mark.long

NO_INT = ("", "abc", "1.5", " 1", "1_0", "99999999999", "9" * 5000)
"""Texts that Java's Integer#parseInt refuses."""
UNDELIVERABLE: list[dict[str, str]] = [
    {},
    {"REAL_TOPIC": "nowhere"},
    {"REAL_QID": "0"},
    *({"REAL_TOPIC": "nowhere", "REAL_QID": text} for text in NO_INT),
]
"""Properties of messages in SCHEDULE_TOPIC_XXXX that name no topic and queue."""
HALF = {"REAL_TOPIC": "nowhere", "REAL_QID": "0", "PGROUP": "nobody", "UNIQ_KEY": "U"}
MALFORMED_HALVES: list[dict[str, str]] = [
    {},
    *({name: text for name, text in HALF.items() if name != gone} for gone in HALF),
    *(HALF | {"REAL_QID": text} for text in NO_INT),
    *(HALF | {"TRANSACTION_CHECK_TIMES": text} for text in (*NO_INT, "-5")),
    *(HALF | {"CHECK_IMMUNITY_TIME_IN_SECONDS": text} for text in ("abc", "", "--5")),
    *(HALF | {"TRAN_PREPARED_QUEUE_OFFSET": text} for text in NO_INT),
]
"""Properties of messages in RMQ_SYS_TRANS_HALF_TOPIC."""
MALFORMED_OPS = [b"abc", b"x" * 100, b"9" * 5000, b"-1", b"\xff\xfe"]
"""Bodies of messages in RMQ_SYS_TRANS_OP_HALF_TOPIC, which name no half message."""


@pytest.fixture(scope="module")
def own(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield a target to restart, whose broker checks half messages often."""
    need(
        target, Capability.WIRE, Capability.CONFIG, Capability.RESTART, Capability.STORE
    )
    with another_target(pytestconfig, FREQUENT_CHECKS) as started:
        yield started


@pytest.fixture
def own_topic(own: Target, unique: Callable[[str], str]) -> str:
    """Return a new topic of the target."""
    return create_topic(own, unique("topic"))


def bodies_in(client: Client, topic: str, count: int) -> list[bytes]:
    """Wait for *count* messages in queue 0 of *topic*; return the bodies there."""
    client.wait_for_max_offset(topic=topic, offset=count)
    return sorted(one.body for one in records_of(client.pull(topic=topic, offset=0)))


@pytest.mark.clause("DELAY-SEND-008")
def test_undeliverable_messages_stop_no_delay_level(
    own: Target, own_topic: str
) -> None:
    with own.connect_to_broker() as client:
        send_delayed(client, own_topic, b"before")
        for properties in UNDELIVERABLE:
            sent = client.send_message(topic=SCHEDULE_TOPIC, properties=properties)
            require_success(sent)
        send_delayed(client, own_topic, b"behind")
        found = bodies_in(client, own_topic, 2)
        expect(
            "DELAY-SEND-008",
            found=found,
            expected=[b"before", b"behind"],
            transcript=client.transcript,
        )
    wait_until(
        lambda: is_level_persisted(own), what="the level is persisted", timeout_s=30
    )
    own.restart()
    with own.connect_to_broker() as client:
        send_delayed(client, own_topic, b"later")
        found = bodies_in(client, own_topic, 3)
        expect(
            "DELAY-SEND-008",
            found=found,
            expected=[b"before", b"behind", b"later"],
            transcript=client.transcript,
        )


def is_level_persisted(target: Target) -> bool:
    """Return whether delayOffset.json has the end of level 1.

    4.6.0 persists it every 10 seconds, and not when it stops.
    """
    assert target.store_path is not None
    file = target.store_path / "config" / "delayOffset.json"
    offset = len(UNDELIVERABLE) + 2
    return file.exists() and f"1:{offset}" in file.read_text()


def send_delayed(client: Client, topic: str, body: bytes) -> None:
    """Send a message of delay level 1."""
    sent = client.send_message(topic=topic, body=body, properties={"DELAY": "1"})
    require_success(sent)


@pytest.mark.clause("TXN-CHECK-022")
def test_malformed_half_messages_stop_no_check(
    own: Target, own_topic: str, group: str
) -> None:
    with own.connect_to_broker() as client:
        join(client, group)
        send_half(client, own_topic, group=group, body=b"before", born_at_ms=old())
        for properties in MALFORMED_HALVES:
            sent = client.send_message(
                topic=HALF_TOPIC, properties=properties, born_at_ms=old()
            )
            require_success(sent)
        for body in MALFORMED_OPS:
            sent = client.send_message(
                topic=OP_TOPIC, body=body, properties={"TAGS": "d"}
            )
            require_success(sent)
        send_half(client, own_topic, group=group, body=b"behind", born_at_ms=old())
        commit_checked(client, group, {b"before", b"behind"})
        found = bodies_in(client, own_topic, 2)
        expect(
            "TXN-CHECK-022",
            found=found,
            expected=[b"before", b"behind"],
            transcript=client.transcript,
        )
    own.restart()
    with own.connect_to_broker() as client:
        join(client, group)
        send_half(client, own_topic, group=group, body=b"later", born_at_ms=old())
        commit_checked(client, group, {b"later"})
        found = bodies_in(client, own_topic, 3)
        expect(
            "TXN-CHECK-022",
            found=found,
            expected=[b"before", b"behind", b"later"],
            transcript=client.transcript,
        )


def commit_checked(client: Client, group: str, awaited: set[bytes]) -> None:
    """Commit each half message with one of the *awaited* bodies when it is checked."""
    while awaited:
        check_request = question(client)
        body = decode_record(check_request.body, check_crc=False).body
        if body in awaited:
            awaited.remove(body)
            fields = check_request.fields
            response = client.end_transaction(
                group=group,
                commit_log_offset=int(fields["commitLogOffset"]),
                queue_offset=int(fields["tranStateTableOffset"]),
                decision=Decision.COMMIT,
                message_id=fields["msgId"],
                transaction_id=fields["transactionId"],
                from_check=True,
            )
            require_success(response)
