"""Properties under names that clients reserve: a broker takes them from anybody."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, batch_body, require_success
from conformance.harness.pytest_plugin.expectations import expect_fields
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import records_of
from spec.clause import release_key
from spec.wire.message.properties import decode_properties
from spec.wire.message.property_names import PROPERTY_NAMES

CHANGED = ("DELAY", "TRAN_MSG", "CLUSTER")
"""A broker of some release changes or removes these, or decides by them."""
CHANGED_SINCE_4_9 = (
    *("WAIT", "MSG_REGION", "TRACE_ON", "__CRC32#"),
    *("INNER_MULTI_DISPATCH", "INNER_MULTI_QUEUE_OFFSET", "INNER_NUM", "INNER_BASE"),
    *("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS", "TIMER_DEL_UNIQKEY"),
    "POP_CK",
    "TIMER_OUT_MS",  # 5.3.3 does not answer a send that has REAL_TOPIC as well
)
"""Names of waits, regions, checksums, queues, batches, timer messages and receipts."""


@pytest.mark.clause("SEND-PROPS-006")
def test_properties_under_reserved_names_are_stored(
    broker: Client, target: Target, topic: str
) -> None:
    sent = reserved_properties(target)
    for properties in sent:
        require_success(broker.send_message(topic=topic, properties=properties))
    expect_stored(broker, topic, sent)


@pytest.mark.clause("SEND-PROPS-006")
def test_properties_of_batches_under_reserved_names_are_stored(
    broker: Client, target: Target, topic: str
) -> None:
    sent = reserved_properties(target, is_batch=True)
    body = batch_body([(b"x", properties) for properties in sent])
    require_success(broker.send_batch(topic=topic, body=body))
    expect_stored(broker, topic, sent)


def reserved_properties(
    target: Target, *, is_batch: bool = False
) -> list[dict[str, str]]:
    """Return properties under all names that *target* stores, for two messages."""
    is_late = release_key(target.release) >= (4, 9)
    changed = {*CHANGED, *(CHANGED_SINCE_4_9 if is_late else ())}
    if is_batch and not is_late:
        changed.remove("CLUSTER")  # 4.8.0 began to add it to each message
    names = sorted(PROPERTY_NAMES.keys() - changed)
    return [
        {name: f"{number}:{place}" for place, name in enumerate(names)}
        for number in range(2)
    ]


def expect_stored(broker: Client, topic: str, sent: list[dict[str, str]]) -> None:
    """Fail SEND-PROPS-006 unless the messages of queue 0 have the properties *sent*."""
    broker.wait_for_max_offset(topic=topic, offset=len(sent))
    for offset, properties in enumerate(sent):
        record = records_of(broker.pull(topic=topic, offset=offset))[0]
        expect_fields(
            "SEND-PROPS-006",
            found=decode_properties(record.properties),
            expected=properties,
            transcript=broker.transcript,
        )
