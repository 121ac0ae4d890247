"""Receipts of popped messages as a broker of 5.0.0 returns them."""

from __future__ import annotations

from unittest.mock import Mock

from conformance.messaging.pop.pop_group import PopGroup
from spec.store.message_record import Record, encode_record
from spec.wire.pop.pop_receipt import PopReceipt, TopicKind
from spec.wire.remoting.command import Command


def test_a_revived_message_of_5_0_has_the_receipt_of_the_header() -> None:
    group = PopGroup(broker=Mock(), broker_name="b", topic="Topic", group="group")
    fields = {
        "startOffsetInfo": "0 0 7;1 0 4",
        "popTime": "1700000000000",
        "invisibleTime": "60000",
        "reviveQid": "2",
    }
    again = Record(
        topic="%RETRY%group_Topic", queue_id=0, queue_offset=5, physical_offset=0
    )
    response = Command(code=0, flag=1, fields=fields, body=encode_record(again))
    (popped,) = group.popped(response)
    assert popped.receipt == PopReceipt(
        first_offset=4,
        popped_at_ms=1_700_000_000_000,
        invisible_ms=60_000,
        revive_queue_id=2,
        topic_kind=TopicKind.RETRY,
        broker_name="b",
        queue_id=0,
        queue_offset=5,
    )
