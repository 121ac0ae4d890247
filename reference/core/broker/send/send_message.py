"""
SEND_MESSAGE, SEND_MESSAGE_V2 and SEND_BATCH_MESSAGE: messages go into the store.

`handle_send_message` takes all send requests of one read of a connection and appends
their messages by one call. One request is a sequence of one. The order of the checks is
that of 4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

from msgspec.structs import replace

from reference.core.broker.ports import Ports
from reference.core.broker.send.put_result import (
    BUSY,
    broker_fields,
    not_stored_response,
    put_messages,
    respond_to_put,
)
from reference.core.broker.send.send_back import dead_letter_instead
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import (
    UNIT_FLAG,
    UNIT_SUBSCRIPTION_FLAG,
    Topic,
)
from reference.core.broker.transaction.half_message import is_prepared, prepare
from reference.core.remoting.request import (
    ONEWAY_BIT,
    FieldError,
    Refused,
    Request,
    demand,
    request_decoder,
)
from reference.core.remoting.response import SYSTEM_ERROR, Response, ResponseTemplate
from reference.core.store.types import NewMessage, PutResult, PutStatus
from spec.store.message_record import SystemFlag
from spec.wire.headers.request_headers import (
    SEND_MESSAGE_FIELDS,
    SEND_MESSAGE_V2_FIELDS,
    SendMessageRequestHeader,
)
from spec.wire.message.properties import (
    NAME_END,
    VALUE_END,
    Property,
    decode_properties,
    encode_properties,
)
from spec.wire.message.topic_names import DEFAULT_TOPIC, RETRY_PREFIX, TOPIC_LENGTH_MAX
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import SEE_FAQ, ResponseCode

MULTI_TAGS_FLAG = int(SystemFlag.MULTI_TAGS)
# Members of an enumeration are slow to look up.
_TRAN_MSG, _CLUSTER = str(Property.TRAN_MSG), str(Property.CLUSTER)
_NO_VALUE = NAME_END + VALUE_END

_PUT_OK, _SUCCESS = PutStatus.PUT_OK, int(ResponseCode.SUCCESS)
_STORED = {
    _PUT_OK: _SUCCESS,
    PutStatus.FLUSH_DISK_TIMEOUT: int(ResponseCode.FLUSH_DISK_TIMEOUT),
    PutStatus.FLUSH_SLAVE_TIMEOUT: int(ResponseCode.FLUSH_SLAVE_TIMEOUT),
    PutStatus.SLAVE_NOT_AVAILABLE: int(ResponseCode.SLAVE_NOT_AVAILABLE),
}
_by_words = request_decoder(SendMessageRequestHeader, SEND_MESSAGE_FIELDS)
_by_letters = request_decoder(SendMessageRequestHeader, SEND_MESSAGE_V2_FIELDS)
SEND_HEADERS: Mapping[int, Callable[[Request], SendMessageRequestHeader]] = {
    RequestCode.SEND_MESSAGE: _by_words,  # [SEND-HEADER-001]
    RequestCode.SEND_MESSAGE_V2: _by_letters,  # [SEND-HEADER-004]
    RequestCode.SEND_BATCH_MESSAGE: _by_letters,  # [SEND-HEADER-003]
    RequestCode.SEND_REPLY_MESSAGE: _by_words,
    RequestCode.SEND_REPLY_MESSAGE_V2: _by_letters,
}
"""The header decoder of each request code."""


def handle_send_message(
    state: BrokerState, ports: Ports, requests: Sequence[Request]
) -> list[Response | None]:
    """Check each request, append all messages, respond to each request."""
    now_ms, options = requests[0].now_ms, state.options
    if state.store.is_overloaded:
        return [Response(ResponseCode.SYSTEM_BUSY, BUSY) for _ in requests]
    responses: list[Response | None] = [None] * len(requests)
    messages: list[NewMessage] = []
    awaited: list[tuple[int, int, int]] = []  # request, message and queue by number
    decode = SEND_HEADERS[requests[0].code]
    for number, request in enumerate(requests):
        try:
            message, queue_id = _checked_message(state, request, decode(request))
            if not request.flag & ONEWAY_BIT:
                awaited.append((number, len(messages), queue_id))
            messages.append(message)
        except Exception as error:
            # A request that fails must not stop those behind it.
            responses[number] = refusal(state, ports, request, error)
    results = put_messages(state, messages, now_ms)
    state.statistics.uncounted.append(results)
    may_wait = ports.flusher.is_sync or options.is_sync_master
    for number, index, queue_id in awaited:
        request, message, result = requests[number], messages[index], results[index]
        if may_wait:
            form = partial(put_response, state, queue_id=queue_id)
            responses[number] = respond_to_put(
                state, ports, request, message, result=result, form=form
            )
        else:
            responses[number] = put_response(state, result, queue_id=queue_id)
    return responses


def refusal(
    state: BrokerState, ports: Ports, request: Request, error: Exception
) -> Response:
    """Return the response to a send, or to a reply, that *error* ended."""
    response = ports.remoting.error_response(request, error)
    if type(error) is Refused:  # [SEND-RESPONSE-006]
        options = state.options
        response.fields = broker_fields(options.region_id, options.trace_on)
    return response


def _checked_message(
    state: BrokerState, request: Request, header: SendMessageRequestHeader
) -> tuple[NewMessage, int]:
    """Return the message to append, and the queue that the response names."""
    topic = check_send(state, request, header)
    queue_id = header.queue_id
    if queue_id < 0:
        queue_id = next(state.numbers) % topic.write_queue_count  # [SEND-QUEUE-001]
    properties = header.properties or ""  # [SEND-HEADER-002]
    if header.batch:  # [SEND-BATCH-009]
        _check_batch(topic.name)
        if not request.body:  # [SEND-BATCH-017]
            raise FieldError("body")
        message = new_message(state, request, header, topic, queue_id, properties)
        return replace(message, is_batch=True), queue_id
    # [SEND-PROPS-003]
    properties = with_property(properties, _CLUSTER, state.options.broker_cluster_name)
    message = new_message(state, request, header, topic, queue_id, properties)
    if topic.name.startswith(RETRY_PREFIX):
        message = dead_letter_instead(
            state, message, request, times_max=header.max_reconsume_times
        )
    if _TRAN_MSG in properties and is_prepared(properties):
        if state.options.reject_transaction_message:
            raise Refused(  # [TXN-HALF-004]
                ResponseCode.NO_PERMISSION,
                f"the broker[{state.options.broker_ip1}] sending transaction message "
                "is forbidden",
            )
        message = prepare(message)  # [TXN-HALF-001]
    return message, queue_id


def check_send(
    state: BrokerState, request: Request, header: SendMessageRequestHeader
) -> Topic:
    """Return the topic to send to, which may be created; raise Refused.

    4.6.0 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor#msgCheck.
    """
    options, name = state.options, header.topic
    if (
        request.now_ms < options.start_accept_send_request_time_stamp
    ):  # [SEND-STATE-001]
        start_ms = options.start_accept_send_request_time_stamp
        raise Refused(SYSTEM_ERROR, f"broker unable to service, until {start_ms}")
    topic = state.topics.table.get(name)
    # [SEND-PERM-001] [SEND-PERM-002] [SEND-PERM-003]
    if topic is not None and topic.is_ordered and not options.may_write:
        remark = f"the broker[{options.broker_ip1}] sending message is forbidden"
        raise Refused(ResponseCode.NO_PERMISSION, remark)
    if name == DEFAULT_TOPIC:  # [SEND-TOPIC-010]
        remark = f"the topic[{name}] is conflict with system reserved words."
        raise Refused(SYSTEM_ERROR, remark)
    if topic is None:
        topic = _create_topic(state, header, request.now_ms)
    # [SEND-QUEUE-002] [SEND-QUEUE-004]
    if header.queue_id >= topic.queue_count:
        peer = state.connections[request.connection].remote
        raise Refused(
            SYSTEM_ERROR,
            f"request queueId[{header.queue_id}] is illegal, {topic} Producer: {peer}",
        )
    return topic


def _create_topic(
    state: BrokerState, header: SendMessageRequestHeader, now_ms: int
) -> Topic:
    """Create the topic of a send, like its default topic; raise Refused."""
    is_retry = header.topic.startswith(RETRY_PREFIX)
    flag = 0
    if header.unit_mode:  # [SEND-TOPIC-012]
        flag = UNIT_SUBSCRIPTION_FLAG if is_retry else UNIT_FLAG
    # [SEND-TOPIC-005] [SEND-TOPIC-006] [SEND-TOPIC-011]
    topic = state.topics.create_like(
        header.topic,
        default=demand(header.default_topic, "defaultTopic"),
        queue_count=demand(header.default_topic_queue_nums, "defaultTopicQueueNums"),
        flag=flag,
        now_ms=now_ms,
    )
    if topic is None and is_retry:  # [SEND-TOPIC-016]
        topic = state.topics.create_once(header.topic, now_ms=now_ms, flag=flag)
    if topic is None:  # [SEND-TOPIC-007]
        remark = f"topic[{header.topic}] not exist, apply first please!{SEE_FAQ}"
        raise Refused(ResponseCode.TOPIC_NOT_EXIST, remark)
    return topic


def _check_batch(topic: str) -> None:
    if len(topic) > TOPIC_LENGTH_MAX:
        remark = f"message topic length too long {len(topic)}"
        raise Refused(ResponseCode.MESSAGE_ILLEGAL, remark)
    if topic.startswith(RETRY_PREFIX):  # [SEND-BATCH-003]
        remark = f"batch request does not support retry group {topic}"
        raise Refused(ResponseCode.MESSAGE_ILLEGAL, remark)


def new_message(
    state: BrokerState,
    request: Request,
    header: SendMessageRequestHeader,
    topic: Topic,
    queue_id: int,
    properties: str,
) -> NewMessage:
    """Return the message that a request contains (Java: MessageExtBrokerInner)."""
    system_flags = header.sys_flag  # [SEND-FLAG-002]
    if topic.has_many_tags:  # [SEND-FLAG-003]
        system_flags |= MULTI_TAGS_FLAG
    return NewMessage(
        topic.name,
        queue_id,
        request.body,  # [SEND-BODY-001] [SEND-BODY-002]
        properties,
        header.flag,  # [SEND-FLAG-001]
        system_flags,
        header.born_timestamp,  # [SEND-TIME-001]
        state.connections[request.connection].remote,  # [SEND-HOST-001]
        state.store_host,  # [SEND-HOST-002]
        header.reconsume_times or 0,  # [SEND-RETRY-001]
        0,  # prepared_transaction_offset
        False,  # is_batch
    )


def with_property(properties: str, name: str, value: str) -> str:
    """Return *properties* with one more, encoded as 4.6.0 does.

    Pairs without a name or a value are lost, as by decoding and encoding again.
    """
    whole = properties.endswith(VALUE_END) or not properties
    pairs = properties if whole else properties + VALUE_END
    needs_decoding = (
        _NO_VALUE in pairs
        or pairs.count(NAME_END) != pairs.count(VALUE_END)
        or name + NAME_END in pairs
    )
    if not needs_decoding:
        return f"{pairs}{name}{NAME_END}{value}{VALUE_END}"
    return encode_properties({**decode_properties(properties), name: value})


def put_response(state: BrokerState, result: PutResult, *, queue_id: int) -> Response:
    """Return the response to a send whose message was put.

    A batch has an offset message id for each of its messages.
    """
    options, begin = state.options, state.message_id_begin
    # A fast path: an enumeration's member is slow to look up.
    code = _SUCCESS if result.status is _PUT_OK else _STORED.get(result.status)
    if code is None:
        return not_stored_response(options, result.status)
    fields = {
        # [SEND-RESPONSE-001] [SEND-RESPONSE-002] [STORE-PUT-004]
        "msgId": ",".join(
            [f"{begin}{offset:016X}" for offset in result.record_offsets]
        ),
        "queueId": queue_id,  # [TXN-HALF-003]
        "queueOffset": result.queue_offset,  # [SEND-RESPONSE-003]
    }
    template = _template(code, options.region_id, options.trace_on)
    return Response(code, None, fields, template=template)


@lru_cache(maxsize=16)
def _template(code: int, region: str, is_traced: bool) -> ResponseTemplate:
    """Return the template of responses that contain the place of a message."""
    pattern = Response(code, None, broker_fields(region, is_traced))
    return ResponseTemplate(pattern, ("msgId", "queueId", "queueOffset"))
