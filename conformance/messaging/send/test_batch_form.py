"""The form of a batch's body, and the fields of it that a broker reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import records_of
from conformance.strategies.boundaries import ON_A_TOPIC_EACH
from conformance.strategies.messages import bodies
from spec.wire.send.batch_body import BatchMessage, encode_batch

int32s = st.integers(-(2**31), 2**31 - 1) | st.sampled_from([0, 1, -1])
messages = st.builds(BatchMessage, body=bodies(most=2**8), flag=int32s)


@pytest.mark.clause("WIRE-BATCH-001", "WIRE-BATCH-004")
@ON_A_TOPIC_EACH
@given(batch=st.lists(messages, min_size=1, max_size=5))
def test_each_message_of_a_batch_has_its_own_flag(
    target: Target, broker: Client, unique: Any, batch: list[BatchMessage]
) -> None:
    found = _stored(target, broker, unique("batch_form"), batch)
    expect(
        "WIRE-BATCH-001",
        found=[body for body, _ in found],
        expected=[message.body for message in batch],
        what="bodies",
        transcript=broker.transcript,
    )
    expect(
        "WIRE-BATCH-004",
        found=[flag for _, flag in found],
        expected=[message.flag for message in batch],
        what="flags",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-BATCH-003")
@ON_A_TOPIC_EACH
@given(magic=int32s, body_crc=int32s)
def test_magic_and_checksum_of_a_batch_are_not_looked_at(
    target: Target, broker: Client, unique: Any, magic: int, body_crc: int
) -> None:
    plain = BatchMessage(body=b"any magic")
    odd = replace(plain, magic=magic, body_crc=body_crc)
    found = _stored(target, broker, unique("batch_words"), [odd, plain])
    expect(
        "WIRE-BATCH-003",
        found=[body for body, _ in found],
        expected=[b"any magic"] * 2,
        what="bodies",
        transcript=broker.transcript,
    )


def _stored(
    target: Target, broker: Client, topic: str, batch: list[BatchMessage]
) -> list[tuple[bytes, int]]:
    """Send *batch* and return body and flag of what was stored."""
    create_topic(target, topic)
    require_success(broker.send_batch(topic=topic, body=encode_batch(batch)))
    broker.wait_for_max_offset(topic=topic, offset=len(batch))
    records = records_of(broker.pull(topic=topic, offset=0))
    return [(record.body, record.flag) for record in records]
