"""
Queries for messages, by commit-log offset or by key (Java: QueryMessageProcessor).
"""

from __future__ import annotations

from contextlib import suppress

from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response, json_response
from reference.core.store.message_store import MessageStore
from spec.layout import LayoutError
from spec.store.message_record import Record, decode_record
from spec.wire.consumer.query import UNIQUE_KEY_FIELD
from spec.wire.remoting.response_code import ResponseCode


def look_message_by_offset(store: MessageStore, offset: int) -> Record | None:
    """Return the message at an offset of the commit log, or None.

    4.6.0 org.apache.rocketmq.store.DefaultMessageStore#lookMessageByOffset.
    """
    data = store.record_at(offset)
    with suppress(LayoutError):  # the offset need not be the start of a record
        return None if data is None else decode_record(data)
    return None


def view_message(state: BrokerState, request: Request) -> Response:
    """Respond with the record at a commit-log offset."""
    offset = request.int64("offset")
    record = state.store.record_at(offset)  # [QUERY-ID-001]
    if record is None:  # [QUERY-ID-002]
        remark = f"can not find message by the offset, {offset}"
        raise Refused(SYSTEM_ERROR, remark)
    return Response(records=(record,))


def query_message(state: BrokerState, request: Request) -> Response:
    """Respond with the records that the index has for a key in a span of time."""
    count_max = request.int32("maxNum")
    if request.truth(UNIQUE_KEY_FIELD):
        count_max = state.options.default_query_max_num  # [QUERY-UNIQUE-002]
    if count_max < 0:  # [QUERY-KEY-012]
        raise Refused(SYSTEM_ERROR, f"maxNum is {count_max}")
    found = state.store.query(  # [QUERY-KEY-001] [QUERY-UNIQUE-001]
        request.text_or_null("topic"),
        request.text_or_null("key"),
        count_max,
        request.int64("beginTimestamp"),
        request.int64("endTimestamp"),
    )
    fields: dict[str, object] = {
        # [QUERY-RESPONSE-001]
        "indexLastUpdatePhyoffset": found.index_last_update_offset,
        "indexLastUpdateTimestamp": found.index_last_update_ms,
    }
    if found.records:
        return Response(fields=fields, records=found.records)
    remark = "can not find message, maybe time range not correct"
    # [QUERY-KEY-004]
    return Response(ResponseCode.QUERY_NOT_FOUND, remark, fields)


def query_consume_queue(state: BrokerState, request: Request) -> Response:
    """Respond that a queue exists; 4.6.0 encodes the body before it fills it in."""
    topic, queue_id = request.text("topic"), request.optional_int32("queueId")
    if state.store.queues.table.get((topic, queue_id)) is None:
        raise Refused(SYSTEM_ERROR, f"{queue_id}@{topic} is not exist!")
    body = {"maxQueueIndex": 0, "minQueueIndex": 0}  # [QUERY-QUEUE-001]
    return json_response(body)
