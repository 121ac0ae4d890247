"""
CONSUMER_SEND_MSG_BACK: a message that failed to be consumed is retried later.

It goes to the retry topic of the group through a delay level that grows with each
retry. After the last retry it goes to the dead-letter topic (DLQ) of the group.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from reference.core.broker.ports import Ports
from reference.core.broker.query_message import look_message_by_offset
from reference.core.broker.send.put_result import BUSY, put_message, respond_to_put
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import PERM_WRITE
from reference.core.remoting.request import (
    FieldError,
    Refused,
    Request,
    request_decoder,
)
from reference.core.remoting.response import SYSTEM_ERROR, Response
from reference.core.store.commitlog.dispatch_request import property_value
from reference.core.store.types import (
    NewMessage,
    PutResult,
    PutStatus,
    message_of_record,
)
from spec.store.config.group_settings import SubscriptionGroupConfig
from spec.store.message_record import Record
from spec.wire.headers.request_headers import (
    CONSUMER_SEND_MSG_BACK_FIELDS,
    ConsumerSendMsgBackRequestHeader,
)
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import Property, decode_properties, encode_properties
from spec.wire.message.retry_topics import FIRST_RETRY_LEVEL
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.remoting.response_code import SEE_FAQ, ResponseCode

_FIRST_WITH_TIMES_MAX = 121
"""First version of clients that send maxReconsumeTimes (Java: V3_4_9)."""
_IS_DELAY = re.compile(r"\+?0*[1-9][0-9]*")
"""A DELAY property that delays; 0 and -1 do not."""


_decode = request_decoder(
    ConsumerSendMsgBackRequestHeader, CONSUMER_SEND_MSG_BACK_FIELDS
)


def handle_send_back(
    state: BrokerState, ports: Ports, request: Request
) -> Response | None:
    """Append a message again that a consumer could not consume."""
    if state.store.is_overloaded:
        raise Refused(ResponseCode.SYSTEM_BUSY, BUSY)
    header, options = _decode(request), state.options
    group = _checked_group(state, header.group, request.now_ms)  # [RETRY-SENDBACK-009]
    if not options.may_write:  # [RETRY-SENDBACK-007]
        remark = f"the broker[{options.broker_ip1}] sending message is forbidden"
        raise Refused(ResponseCode.NO_PERMISSION, remark)
    if group.retry_queue_count <= 0:  # [RETRY-SENDBACK-008]
        return Response()
    topic = state.topics.retry_topic(group, request.now_ms, is_unit=header.unit_mode)
    if not topic.permission & PERM_WRITE:
        remark = f"the topic[{topic.name}] sending message is forbidden"
        raise Refused(ResponseCode.NO_PERMISSION, remark)
    record = look_message_by_offset(state.store, header.offset)
    if record is None:  # [RETRY-SENDBACK-003]
        remark = f"look message by offset failed, {header.offset}"
        raise Refused(SYSTEM_ERROR, remark)
    message = _message_sent_back(state, request, header, record, group)
    result = put_message(state, message, request.now_ms)
    if result.is_stored:
        first_topic = (
            property_value(message.properties, Property.RETRY_TOPIC) or record.topic
        )
        state.statistics.on_send_back(group.name, first_topic)
    return respond_to_put(state, ports, request, message, result=result, form=_response)


def _response(result: PutResult) -> Response:
    if result.status is PutStatus.PUT_OK:
        return Response()
    return Response(SYSTEM_ERROR, result.status.name)


def dead_letter_instead(
    state: BrokerState, message: NewMessage, request: Request, *, times_max: int | None
) -> NewMessage:
    """Return *message*, or its dead letter after too many retries.

    *times_max* is the limit in the request, which newer clients send.
    """
    name = message.topic.removeprefix(RETRY_PREFIX)
    group = _checked_group(state, name, request.now_ms)  # [SEND-RETRY-002]
    if message.reconsume_times < _times_max(group, request, times_max):
        return message
    topic = state.topics.dead_letter_topic(name, request.now_ms)
    return replace(message, topic=topic.name, queue_id=0)  # [SEND-RETRY-003]


def _times_max(
    group: SubscriptionGroupConfig, request: Request, given: int | None
) -> int:
    """Return the limit of retries: the group's, or that of a newer client."""
    if request.version < _FIRST_WITH_TIMES_MAX:
        return group.retry_max_times  # [SEND-RETRY-006]
    if given is None:
        raise FieldError("maxReconsumeTimes")
    return given  # [SEND-RETRY-007]


def _checked_group(
    state: BrokerState, name: str, now_ms: int
) -> SubscriptionGroupConfig:
    """Return a group, configured by default where that is allowed; raise Refused."""
    group = state.groups.find(name, now_ms)
    if group is None:
        raise Refused(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            f"subscription group not exist, {name} {SEE_FAQ}",
        )
    return group


def _message_sent_back(
    state: BrokerState,
    request: Request,
    header: ConsumerSendMsgBackRequestHeader,
    record: Record,
    group: SubscriptionGroupConfig,
) -> NewMessage:
    """Return the retry of *record*, or its dead letter."""
    times_max = _times_max(group, request, header.max_reconsume_times)
    delay_level = header.delay_level
    properties = decode_properties(record.properties)
    properties.setdefault(Property.RETRY_TOPIC, record.topic)  # [RETRY-SENDBACK-002]
    properties[Property.WAIT] = "false"
    if record.reconsume_times >= times_max or delay_level < 0:  # [RETRY-DLQ-001]
        topic = state.topics.dead_letter_topic(group.name, request.now_ms).name
        queue_id = 0
    else:
        topic = RETRY_PREFIX + group.name
        queue_id = next(state.numbers) % group.retry_queue_count
        # [RETRY-SENDBACK-001] [RETRY-SENDBACK-004]
        level = delay_level or FIRST_RETRY_LEVEL + record.reconsume_times
        properties[Property.DELAY] = str(level)
    # 4.6.0 loses the first id on the way into the dead-letter topic, unless the
    # message was delayed before: the store delays it again, for its property stays.
    # [RETRY-DLQ-004] [RETRY-DLQ-006]
    if _IS_DELAY.fullmatch(properties.get(Property.DELAY, "")):
        first_id = encode_message_id(record.store_host, record.physical_offset)
        # [RETRY-SENDBACK-005]
        properties.setdefault(Property.ORIGIN_MESSAGE_ID, first_id)
    return replace(
        message_of_record(record, topic, queue_id),
        properties=encode_properties(properties),
        store_host=state.store_host,
        reconsume_times=record.reconsume_times + 1,
    )
