"""Properties under names that clients reserve: a broker takes them from anybody."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.messaging.stored_messages import records_of
from spec.wire.message.properties import decode_properties


@pytest.mark.clause("SEND-PROPS-006")
@pytest.mark.parametrize(
    "name", ["ORIGIN_MESSAGE_ID", "RETRY_TOPIC", "MIN_OFFSET", "BUYER_ID", "REAL_TOPIC"]
)
def test_a_property_under_a_reserved_name_is_stored(
    broker: Client, topic: str, name: str
) -> None:
    answer = broker.send_message(topic=topic, properties={name: "of an application"})
    require_success(answer)
    broker.wait_for_max_offset(topic=topic, offset=1)
    (record,) = records_of(broker.pull(topic=topic, offset=0))
    expect(
        "SEND-PROPS-006",
        found=decode_properties(record.properties).get(name),
        expected="of an application",
        what=f"property {name}",
        transcript=broker.transcript,
    )
