"""Expressions and bitmap filters: the extension unit decides before the record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.requests.messages import now_ms
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import (
    another_target,
    create_topic,
    need,
    unique_name,
)
from conformance.harness.pytest_plugin.known_settings import (
    configured,
    may_change_running,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.sql.sql_consumers import chosen, subscribe
from conformance.messaging.sql.sql_preconditions import need_sql_pulls
from conformance.messaging.sql.sql_topic import SqlTopic
from spec.store.consume_queue import decode_units
from spec.store.file_names import file_name
from spec.store.queue_extension import (
    EXTENSION,
    SMALLEST_SIZE,
    decode_extension_unit,
    offset_of_address,
)

BITS = "enableCalcFilterBitMap"
SETTINGS = {
    "enablePropertyFilter": "true",
    "enableConsumeQueueExt": "true",
    BITS: "true",
}
EXPRESSION = "a > 1"
ALL, NONE = b"\xff", b"\x00"


@pytest.fixture(scope="module")
def noting(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield a target whose broker stores bitmaps of the subscribed groups.

    A running broker applies the settings to new queues.
    """
    if may_change_running(pytestconfig, target):
        with configured(target, SETTINGS):
            yield target
        return
    need(
        target, Capability.WIRE, Capability.CONFIG, Capability.STORE, Capability.RESTART
    )
    with another_target(pytestconfig, SETTINGS) as own:
        yield own


@pytest.fixture
def line(noting: Target) -> str:
    """Return a new topic with one queue."""
    topic = create_topic(noting, unique_name("line"), queue_count=1)
    with noting.connect_to_broker() as client:
        need_sql_pulls(client, topic)
    return topic


def send(broker: Client, topic: str, *values: int) -> None:
    """Send messages whose property a, and body, are *values*, in a later millisecond.

    Returns when all are in the queue, with their bits.
    """
    began_ms = now_ms()
    wait_until(lambda: now_ms() > began_ms, what="the clock shows another time")
    for value in values:
        body, properties = b"%d" % value, {"a": str(value)}
        response = broker.send_message(topic=topic, body=body, properties=properties)
        offset = int(require_success(response).fields["queueOffset"])
    broker.wait_for_max_offset(topic=topic, offset=offset + 1)


@pytest.mark.needs("store", "restart")
@pytest.mark.clause("PULL-SQL-016")
def test_bits_are_looked_at_before_the_record(
    noting: Target, line: str, group: str
) -> None:
    with noting.connect_to_broker() as broker:
        subscribe(broker, line, group, EXPRESSION)
        send(broker, line, 0, 1, 2, 3)
        found = chosen(broker, line, group)
    expect(
        "PULL-SQL-016",
        found=found,
        expected=[b"2", b"3"],
        what="chosen",
        transcript=broker.transcript,
    )
    noting.stop()
    try:
        assert noting.store_path is not None
        set_bits(StoreFiles(noting.store_path), line, {0: ALL, 3: NONE})
    finally:
        noting.start()  # Later tests use it, too.
    with noting.connect_to_broker() as broker:
        subscribe(broker, line, group, EXPRESSION)
        found = chosen(broker, line, group)
        places = tuple({"a": str(value)} for value in range(4))
        sql_topic = SqlTopic(broker=broker, topic=line, properties=places)
        brought = [int(one["a"]) for one in sql_topic.selected(EXPRESSION)]
    expect(
        "PULL-SQL-016",
        found=found,
        expected=[b"2"],
        what="chosen by wrong bits",
        transcript=broker.transcript,
    )
    expect(
        "PULL-SQL-016",
        found=brought,
        expected=[2, 3],
        what="chosen without bits",
        transcript=broker.transcript,
    )


def set_bits(files: StoreFiles, topic: str, bits: Mapping[int, bytes]) -> None:
    """Make the bit maps of messages of queue 0 all ones or all zeros."""
    path: Path = files.path / EXTENSION / topic / "0" / file_name(0)
    if not path.exists():
        unsupported("the target writes no extension of a consume queue")
    units = decode_units(files.queue(topic, 0).files[0][1])
    data = bytearray(path.read_bytes())
    for number, byte in bits.items():
        at = offset_of_address(units[number].tags_code)
        size = len(decode_extension_unit(bytes(data[at:])).filter_bits)
        data[at + SMALLEST_SIZE : at + SMALLEST_SIZE + size] = byte * size
    path.write_bytes(data)


@pytest.mark.clause("PULL-SQL-017")
def test_bits_say_nothing_of_messages_before_the_group(
    noting: Target, line: str, group: str
) -> None:
    with noting.connect_to_broker() as broker:
        subscribe(broker, line, unique_name("earlier"), EXPRESSION)
        send(broker, line, 1, 2)
        subscribe(broker, line, group, EXPRESSION)
        send(broker, line, 3)
        found = chosen(broker, line, group)
    expect(
        "PULL-SQL-017",
        found=found,
        expected=[b"2", b"3"],
        what="chosen",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-SQL-018")
def test_bits_of_a_message_may_be_taken_for_those_of_the_next(
    noting: Target, line: str, group: str
) -> None:
    with noting.connect_to_broker() as broker:
        subscribe(broker, line, group, EXPRESSION)
        send(broker, line, 0)
        require_success(broker.update_broker_config({BITS: "false"}))
        try:
            send(broker, line, 2)
        finally:
            require_success(broker.update_broker_config({BITS: "true"}))
        both, second = (chosen(broker, line, group, offset=n) for n in (0, 1))
    expect(
        "PULL-SQL-018",
        found=second,
        expected=[b"2"],
        what="chosen, from offset 1",
        transcript=broker.transcript,
    )
    expect_that(
        "PULL-SQL-018",
        both == [b"2"] or both == [],
        found=both,
        expected="message 2, or nothing",
        what="chosen, from offset 0",
        transcript=broker.transcript,
    )
