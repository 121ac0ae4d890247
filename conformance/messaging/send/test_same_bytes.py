"""One message by a pull, by its id and by its key: the same bytes each time."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.messaging.stored_messages import query_by_key, records_of
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

KEY = "same"
RICH: Mapping[str, str] = {
    "KEYS": f"{KEY} other",
    "TAGS": "blue",
    "UNIQ_KEY": "7F000001000018B4AAC200000000000A",
    "WAIT": "true",
    "own": "value",
}
MAY_GO = ("WAIT",)
"""Properties that a broker removes from 4.9 on."""
FLAG, RECONSUMED = 11, 2
CLAUSES = {"pull": "STORE-RECORD-016", "id": "QUERY-ID-001", "key": "QUERY-KEY-001"}
"""Clauses about the three ways to a record."""


def by_key(broker: Client, topic: str) -> bytes:
    """Return the body of the response to a query by key, once the index has it."""
    wait_until(
        lambda: query_by_key(broker, topic, KEY).code == ResponseCode.SUCCESS,
        what=f"a message of {topic} is found by its key",
    )
    return require_success(query_by_key(broker, topic, KEY)).body


def expect_same(broker: Client, found: Mapping[str, bytes]) -> None:
    """Fail the clause of the way whose bytes differ from those of the others."""
    for way, body in found.items():
        others = [one for other, one in found.items() if other != way]
        if body not in others:
            expect(
                CLAUSES[way],
                found=body.hex(),
                expected=others[0].hex(),
                what=f"bytes of the record by {way}, and by another way",
                transcript=broker.transcript,
            )


@pytest.mark.clause("STORE-RECORD-016", "QUERY-ID-001", "QUERY-KEY-001")
def test_a_record_has_the_same_bytes_in_all_responses(
    broker: Client, topic: str
) -> None:
    sent = broker.send_message(
        topic=topic,
        queue_id=1,
        body=b"the same",
        properties=RICH,
        flag=FLAG,
        reconsume_times=RECONSUMED,
        born_at_ms=now_ms() - 10_000,
    )
    message_id = require_success(sent).fields["msgId"]
    broker.wait_for_max_offset(topic=topic, queue_id=1, offset=1)
    pulled = require_success(broker.pull(topic=topic, queue_id=1, offset=0))
    viewed = require_success(broker.view_message_by_id(message_id))
    found = {
        "pull": pulled.body,
        "id": viewed.body,
        "key": by_key(broker, topic),
    }
    expect_same(broker, found)
    (record,) = records_of(pulled)
    expect_fields(
        "STORE-RECORD-016",
        found=decode_properties(record.properties),
        expected={name: RICH[name] for name in RICH if name not in MAY_GO},
        transcript=broker.transcript,
    )
