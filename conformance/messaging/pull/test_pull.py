"""Pulling: the response for every offset from which a consumer may pull."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_group, create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import bodies_of, records_of, send_bodies
from conformance.strategies.boundaries import ON_A_TOPIC_EACH, OVER_THE_WIRE
from spec.store.message_record import SystemFlag, record_size
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

BAD_QUEUES = (-1, 4, 5, 2**31 - 1, -(2**31))


def offsets_of(response: Command) -> dict[str, str]:
    """Return the three offsets that a response to a pull names."""
    names = ("nextBeginOffset", "minOffset", "maxOffset")
    return {name: response.fields.get(name, "(absent)") for name in names}


def expect_response(
    clause: str, broker: Client, response: Command, *, code: int, **offsets: int
) -> None:
    """Fail *clause* unless *response* has *code* and *offsets*."""
    expect_code(clause, response, code, broker.transcript)
    expect_fields(
        clause,
        found=response.fields,
        expected={name: str(value) for name, value in offsets.items()},
        transcript=broker.transcript,
    )


def expect_offset_moved(
    clause: str, broker: Client, topic: str, pull_offsets: Iterable[int], **offsets: int
) -> None:
    """Fail *clause* unless pulls at *pull_offsets* get PULL_OFFSET_MOVED, *offsets*."""
    code = ResponseCode.PULL_OFFSET_MOVED
    for offset in pull_offsets:
        response = broker.pull(topic=topic, offset=offset)
        expect_response(clause, broker, response, code=code, **offsets)


@pytest.mark.clause("PULL-EMPTY-001")
def test_an_empty_queue_has_nothing_at_its_beginning(
    broker: Client, topic: str
) -> None:
    response = broker.pull(topic=topic, offset=0)
    code = ResponseCode.PULL_NOT_FOUND
    expect_response(
        "PULL-EMPTY-001", broker, response, code=code, nextBeginOffset=0, maxOffset=0
    )


@pytest.mark.clause("PULL-EMPTY-002")
@OVER_THE_WIRE
@given(offset=st.one_of(st.sampled_from([1, -1]), st.integers(1, 2**40)))
def test_an_empty_queue_sends_others_to_its_beginning(
    broker: Client, topic: str, offset: int
) -> None:
    response = broker.pull(topic=topic, offset=offset)
    code = ResponseCode.PULL_OFFSET_MOVED
    expect_response("PULL-EMPTY-002", broker, response, code=code, nextBeginOffset=0)


@pytest.mark.clause(
    "PULL-FOUND-001", "PULL-FOUND-002", "PULL-FOUND-003", "PULL-COUNT-001"
)
@ON_A_TOPIC_EACH
@given(data=st.data())
def test_a_pull_gets_the_next_messages_in_order(
    target: Target, broker: Client, unique: Any, data: st.DataObject
) -> None:
    topic = unique("pulled")
    create_topic(target, topic)
    bodies = [b"%d" % number for number in range(data.draw(st.integers(1, 12)))]
    send_bodies(broker, topic, bodies, queue_id=1)
    offset = data.draw(st.integers(0, len(bodies) - 1))
    count = data.draw(st.integers(1, 14))
    response = broker.pull(topic=topic, queue_id=1, offset=offset, max_count=count)
    expected = bodies[offset : offset + count]
    expect_that(
        "PULL-COUNT-001",
        len(bodies_of(response)) <= count,
        found=len(bodies_of(response)),
        expected=f"at most {count}",
        what="messages",
        transcript=broker.transcript,
    )
    expect(
        "PULL-FOUND-001",
        found=bodies_of(response),
        expected=expected,
        what="bodies",
        transcript=broker.transcript,
    )
    found = [record.queue_offset for record in records_of(response)]
    wanted = list(range(offset, offset + len(expected)))
    expect(
        "PULL-FOUND-001",
        found=found,
        expected=wanted,
        what="queue offsets",
        transcript=broker.transcript,
    )
    expect_fields(
        "PULL-FOUND-002",
        found=response.fields,
        expected={"nextBeginOffset": str(offset + len(expected))},
        transcript=broker.transcript,
    )
    expect_fields(
        "PULL-FOUND-003",
        found=response.fields,
        expected={"minOffset": "0", "maxOffset": str(len(bodies))},
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FOUND-004", "QUERY-ID-001")
def test_a_pull_gets_the_records_of_the_commit_log(broker: Client, topic: str) -> None:
    sent = [
        require_success(
            broker.send_message(
                topic=topic,
                body=body,
                properties={"own": f"{number}"},
                flag=10 + number,
                born_at_ms=1_600_000_000_000 + number,
                reconsume_times=number,
                system_flags=SystemFlag.COMPRESSED * (number % 2),
            )
        )
        for number, body in enumerate((b"a", b"bb" * 100, b"c"))
    ]
    broker.wait_for_max_offset(topic=topic, offset=len(sent))
    viewed = [broker.view_stored(response.fields["msgId"]) for response in sent]
    for offset, record in enumerate(viewed):
        pulled = broker.pull(topic=topic, offset=offset, max_count=1)
        expect(
            "PULL-FOUND-004",
            found=require_success(pulled).body,
            expected=require_success(record).body,
            what=f"body of a pull of the message at {offset}",
            transcript=broker.transcript,
        )
    expect(
        "PULL-FOUND-004",
        found=require_success(broker.pull(topic=topic, offset=0)).body,
        expected=b"".join(require_success(response).body for response in viewed),
        what="body",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FOUND-005")
def test_a_master_suggests_itself(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a"])
    for offset in (0, 1, 2):
        found = broker.pull(topic=topic, offset=offset).fields["suggestWhichBrokerId"]
        expect(
            "PULL-FOUND-005",
            found=found,
            expected="0",
            what="suggestWhichBrokerId",
            transcript=broker.transcript,
        )


@pytest.mark.clause("PULL-MAXOFFSET-001")
def test_at_the_end_there_is_nothing_yet(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    response = broker.pull(topic=topic, offset=3)
    code = ResponseCode.PULL_NOT_FOUND
    expect_response(
        "PULL-MAXOFFSET-001",
        broker,
        response,
        code=code,
        nextBeginOffset=3,
        maxOffset=3,
    )


@pytest.mark.clause("PULL-MAXOFFSET-002")
def test_past_the_end_the_offset_has_moved(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    expect_offset_moved(
        "PULL-MAXOFFSET-002",
        broker,
        topic,
        (4, 5, 1000, 2**40),
        maxOffset=3,
        minOffset=0,
    )


@pytest.mark.clause("PULL-MAXOFFSET-003")
def test_past_the_end_a_consumer_is_sent_to_the_beginning(
    broker: Client, topic: str
) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    expect_offset_moved(
        "PULL-MAXOFFSET-003", broker, topic, (4, 2**40), nextBeginOffset=0
    )


@pytest.mark.clause("PULL-MAXOFFSET-004")
def test_past_the_end_a_consumer_is_sent_to_the_end(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    expect_offset_moved(
        "PULL-MAXOFFSET-004", broker, topic, (4, 2**40), nextBeginOffset=3
    )


@pytest.mark.clause("PULL-MINOFFSET-001")
def test_before_the_beginning_a_consumer_is_sent_there(
    broker: Client, topic: str
) -> None:
    send_bodies(broker, topic, [b"a", b"b"])
    expect_offset_moved(
        "PULL-MINOFFSET-001", broker, topic, (-1, -(2**40)), nextBeginOffset=0
    )


@pytest.mark.clause("PULL-QUEUE-001")
def test_a_queue_that_is_not_there_is_an_error(broker: Client, topic: str) -> None:
    for queue_id in BAD_QUEUES:
        response = broker.pull(topic=topic, queue_id=queue_id, offset=0)
        expect_response(
            "PULL-QUEUE-001", broker, response, code=ResponseCode.SYSTEM_ERROR
        )


@pytest.mark.clause("PULL-QUEUE-002")
def test_a_queue_that_is_not_there_is_no_parameter(broker: Client, topic: str) -> None:
    for queue_id in BAD_QUEUES:
        response = broker.pull(topic=topic, queue_id=queue_id, offset=0)
        expect_response(
            "PULL-QUEUE-002", broker, response, code=ResponseCode.INVALID_PARAMETER
        )


@pytest.mark.clause("PULL-TOPIC-001")
def test_an_unknown_topic_does_not_exist(broker: Client, unique: Any) -> None:
    response = broker.pull(topic=unique("nowhere"), offset=0)
    expect_response(
        "PULL-TOPIC-001", broker, response, code=ResponseCode.TOPIC_NOT_EXIST
    )


@pytest.mark.clause("PULL-PERM-001")
def test_a_topic_without_read_permission_is_not_read(
    target: Target, broker: Client, unique: Any
) -> None:
    topic = unique("write_only")
    create_topic(target, topic, permissions=2)
    response = broker.pull(topic=topic, offset=0)
    expect_response("PULL-PERM-001", broker, response, code=ResponseCode.NO_PERMISSION)


@pytest.mark.clause("PULL-PERM-002")
def test_a_group_that_is_switched_off_reads_nothing(
    target: Target, broker: Client, topic: str, group: str
) -> None:
    create_group(target, group, consumeEnable=False)
    response = broker.pull(topic=topic, group=group, offset=0)
    expect_response("PULL-PERM-002", broker, response, code=ResponseCode.NO_PERMISSION)


@pytest.mark.clause("PULL-COUNT-002")
def test_a_pull_for_nothing_gets_a_message(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b"])
    found = bodies_of(broker.pull(topic=topic, offset=0, max_count=0))
    expect(
        "PULL-COUNT-002",
        found=found,
        expected=[b"a"],
        what="bodies",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-COUNT-003")
def test_a_response_has_32_messages_at_most(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"%d" % number for number in range(40)])
    for count in (31, 32, 33, 1000):
        found = bodies_of(broker.pull(topic=topic, offset=0, max_count=count))
        expected = min(count, 32)
        expect(
            "PULL-COUNT-003",
            found=len(found),
            expected=expected,
            what="messages",
            transcript=broker.transcript,
        )


@pytest.mark.clause("PULL-COUNT-004")
def test_a_response_has_a_quarter_of_a_megabyte_at_most(
    broker: Client, topic: str
) -> None:
    send_bodies(broker, topic, [b"b" * 300_000, *[b"s" * 60_000] * 6])
    pulled = [broker.pull(topic=topic, offset=offset) for offset in (0, 1)]
    sizes = [len(require_success(response).body) for response in pulled]
    counts = [len(records_of(response)) for response in pulled]
    expect(
        "PULL-COUNT-004",
        found=counts,
        expected=[1, 4],
        what="messages in answers",
        transcript=broker.transcript,
    )
    small = sizes[1] <= 262_144
    expect(
        "PULL-COUNT-004",
        found=small,
        expected=True,
        what=f"{sizes[1]} bytes fit",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-COUNT-004")
def test_a_response_may_have_a_quarter_of_a_megabyte(
    broker: Client, topic: str
) -> None:
    send_bodies(broker, topic, [b"probe"])
    (probe,) = records_of(broker.pull(topic=topic, offset=0))
    room = 262_144 - 2 * (record_size(probe) - len(probe.body))
    bodies = [bytes(100_000), bytes(room - 100_000)]
    send_bodies(broker, topic, [*bodies, bodies[0], bodies[1] + b"1"])
    pulled = [broker.pull(topic=topic, offset=offset) for offset in (1, 3)]
    counts = [len(records_of(response)) for response in pulled]
    expect(
        "PULL-COUNT-004",
        found=counts,
        expected=[2, 1],
        what="messages in answers",
        transcript=broker.transcript,
    )
