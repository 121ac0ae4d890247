"""
Finding a message again: by its place in the commit log, or by a key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.request import Request
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

UNIQUE_KEY_QUERY = "_UNIQUE_KEY_QUERY"
"""``true`` when a unique key is looked for (Java: UNIQUE_MSG_QUERY_FLAG)."""


def view_message(broker: Broker, request: Request) -> Answer:
    """Answer the record at a place in the commit log."""
    offset = request.int64("offset")
    record = broker.store.record_at(offset)  # [QUERY-ID-001]
    if record is None:  # [QUERY-ID-002]
        remark = f"can not find message by the offset, {offset}"
        return refusal(SYSTEM_ERROR, remark)
    return Answer(records=(record,))


def query_message(broker: Broker, request: Request) -> Answer:
    """Answer the records that the index has under a key, in a span of time."""
    count_max = request.int32("maxNum")
    if request.truth(UNIQUE_KEY_QUERY):
        count_max = broker.options.number("defaultQueryMaxNum")  # [QUERY-UNIQUE-002]
    found = broker.store.query(  # [QUERY-KEY-001] [QUERY-KEY-002] [QUERY-UNIQUE-001]
        request.text("topic"),
        request.text("key"),
        count_max,
        request.int64("beginTimestamp"),
        request.int64("endTimestamp"),
    )
    fields: dict[str, object] = {
        # [QUERY-ANSWER-001]
        "indexLastUpdatePhyoffset": found.index_last_update_offset,
        "indexLastUpdateTimestamp": found.index_last_update_ms,
    }
    if found.records:
        return Answer(fields=fields, records=found.records)
    remark = "can not find message, maybe time range not correct"
    # [QUERY-KEY-004] [QUERY-KEY-006]
    return Answer(ResponseCode.QUERY_NOT_FOUND, remark, fields)
