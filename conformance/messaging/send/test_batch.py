"""Batches: several messages in one request, each stored for itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import (
    Client,
    batch_body,
    now_ms,
    require_success,
)
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import flags_of_sender, record_of, records_of
from conformance.strategies.boundaries import ON_A_TOPIC_EACH
from conformance.strategies.messages import bodies, properties
from spec.store.message_record import SystemFlag
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

messages = st.tuples(bodies(most=2**10), properties(most=3))


@pytest.mark.clause(
    "SEND-BATCH-001", "SEND-BATCH-002", "WIRE-MESSAGEID-004", "STORE-RECORD-012"
)
@ON_A_TOPIC_EACH
@given(batch=st.lists(messages, min_size=1, max_size=8))
def test_the_messages_of_a_batch_are_stored_in_order(
    target: Target,
    broker: Client,
    unique: Any,
    batch: list[tuple[bytes, dict[str, str]]],
) -> None:
    topic = unique("batch")
    create_topic(target, topic)
    require_success(broker.send_message(topic=topic, queue_id=1))
    born_at_ms = now_ms() - 60_000
    response = require_success(
        broker.send_batch(
            topic=topic, body=batch_body(batch), queue_id=1, born_at_ms=born_at_ms
        )
    )
    expect_fields(
        "SEND-BATCH-001",
        found=response.fields,
        expected={"queueId": "1", "queueOffset": "1"},
        transcript=broker.transcript,
    )
    ids = response.fields["msgId"].split(",")
    expect(
        "WIRE-MESSAGEID-004",
        found=len(ids),
        expected=len(batch),
        what="ids",
        transcript=broker.transcript,
    )
    broker.wait_for_max_offset(topic=topic, queue_id=1, offset=1 + len(batch))
    records = records_of(broker.pull(topic=topic, queue_id=1, offset=1))
    expect(
        "SEND-BATCH-001",
        found=[record.queue_offset for record in records],
        expected=list(range(1, 1 + len(batch))),
        what="queue offsets",
        transcript=broker.transcript,
    )
    expect(
        "STORE-RECORD-012",
        found={record.born_at_ms for record in records},
        expected={born_at_ms},
        what="born times",
        transcript=broker.transcript,
    )
    own = [
        (
            record.body,
            set(sent.items()) - set(decode_properties(record.properties).items()),
        )
        for record, (_, sent) in zip(records, batch, strict=True)
    ]
    expect(
        "SEND-BATCH-002",
        found=own,
        expected=[(body, set()) for body, _ in batch],
        what="bodies, and properties that were lost",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BATCH-016")
@pytest.mark.parametrize("times", [0, 3])
def test_the_records_of_a_batch_have_values_of_its_header(
    broker: Client, topic: str, times: int
) -> None:
    born_at_ms = now_ms() - 60_000
    flags = int(SystemFlag.COMPRESSED) if times else 0
    require_success(
        broker.send_message(
            topic=topic,
            queue_id=2,
            body=batch_body([(b"one", {}), (b"two", {})]),
            born_at_ms=born_at_ms,
            reconsume_times=times,
            system_flags=flags,
            code=RequestCode.SEND_BATCH_MESSAGE,
            batch=True,
        )
    )
    broker.wait_for_max_offset(topic=topic, queue_id=2, offset=2)
    records = records_of(broker.pull(topic=topic, queue_id=2, offset=0))
    expect(
        "SEND-BATCH-016",
        found=[
            (*(one.body, one.born_at_ms, one.reconsume_times), flags_of_sender(one))
            for one in records
        ],
        expected=[(body, born_at_ms, times, flags) for body in (b"one", b"two")],
        what="body, born time, reconsume times and system flags",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BATCH-002")
def test_tags_select_messages_of_a_batch(broker: Client, topic: str) -> None:
    batch = [(b"%d" % n, {"TAGS": "ab"[n % 2], "KEYS": f"k{n}"}) for n in range(6)]
    require_success(broker.send_batch(topic=topic, body=batch_body(batch)))
    broker.wait_for_max_offset(topic=topic, offset=6)
    pulled = records_of(broker.pull(topic=topic, offset=0, subscription="b"))
    found = [record.body for record in pulled]
    expect(
        "SEND-BATCH-002",
        found=found,
        expected=[b"1", b"3", b"5"],
        what="bodies",
        transcript=broker.transcript,
    )


def _is_illegal_on_a_retry_topic(
    target: Target, broker: Client, group: str, clause: str
) -> None:
    topic = f"%RETRY%{group}"
    create_topic(target, topic, queue_count=1)
    response = broker.send_batch(topic=topic, body=batch_body([(b"b", {})]))
    expect_code(clause, response, ResponseCode.MESSAGE_ILLEGAL, broker.transcript)


@pytest.mark.clause("SEND-BATCH-003")
def test_a_batch_to_a_retry_topic_is_illegal(
    target: Target, broker: Client, known_group: str
) -> None:
    _is_illegal_on_a_retry_topic(target, broker, known_group, "SEND-BATCH-003")


@pytest.mark.clause("SEND-BATCH-006")
def test_a_batch_to_a_retry_topic_is_illegal_again(
    target: Target, broker: Client, known_group: str
) -> None:
    _is_illegal_on_a_retry_topic(target, broker, known_group, "SEND-BATCH-006")


def stored_of_a_batch(broker: Client, topic: str) -> dict[str, str | None]:
    """Return CLUSTER and the header's property of a message of a batch."""
    response = broker.send_message(
        topic=topic,
        body=batch_body([(b"one", {})]),
        properties={"of_the_header": "1"},
        code=RequestCode.SEND_BATCH_MESSAGE,
        batch=True,
    )
    found = decode_properties(record_of(broker, response).properties)
    return {name: found.get(name) for name in ("of_the_header", "CLUSTER")}


@pytest.mark.clause("SEND-BATCH-013")
def test_a_batchs_header_is_stored_with_each_message(
    target: SharedTarget, broker: Client, topic: str
) -> None:
    expect_fields(
        "SEND-BATCH-013",
        found=stored_of_a_batch(broker, topic),
        expected={"of_the_header": "1", "CLUSTER": target.cluster},
        transcript=broker.transcript,
    )


@pytest.mark.parametrize(
    "clause",
    [
        pytest.param("SEND-BATCH-014", marks=pytest.mark.clause("SEND-BATCH-014")),
        pytest.param("SEND-BATCH-015", marks=pytest.mark.clause("SEND-BATCH-015")),
    ],
)
def test_a_batchs_header_is_not_stored(broker: Client, topic: str, clause: str) -> None:
    expect_fields(
        clause,
        found=stored_of_a_batch(broker, topic),
        expected={"of_the_header": None, "CLUSTER": None},
        transcript=broker.transcript,
    )
