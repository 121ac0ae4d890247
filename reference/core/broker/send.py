"""
Sending: a message, or a batch of them, goes into the store.

The everyday request is SEND_MESSAGE_V2, whose fields have one-letter names; the
first one spells them out. What is checked, and in which order, is what 4.6.0 checks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from reference.core.answer import SYSTEM_ERROR, Answer, AnswerForm, refusal
from reference.core.broker.acknowledgement import BUSY, acknowledge
from reference.core.broker.retry import dead_letter_instead
from reference.core.broker.role import put_in_role
from reference.core.broker.topics import (
    DEFAULT_TOPIC,
    PERM_READ,
    PERM_WRITE,
    RETRY_PREFIX,
    UNIT_FLAG,
    UNIT_SUBSCRIPTION_FLAG,
    Topic,
)
from reference.core.broker.transactions import is_prepared, prepare
from reference.core.request import Request
from reference.core.store.api import NewMessage, PutResult, PutStatus
from spec.wire.properties import decode_properties, encode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

SEE_FAQ = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
TOPIC_LENGTH_MAX = 127
MULTI_TAGS_FLAG = 2
_ILLEGAL = (
    "the message is illegal, maybe msg body or properties length not matched. "
    "msg body length limit 128k, msg properties length limit 32k."
)
_NAME_END, _VALUE_END = "\x01", "\x02"
_NO_VALUE = _NAME_END + _VALUE_END
_SPELT_OUT_CODE = int(RequestCode.SEND_MESSAGE)
_FINE = Answer()
"""Stands where a refusal would; nobody is told."""

_PUT_OK, _SUCCESS = PutStatus.PUT_OK, int(ResponseCode.SUCCESS)
_STORED = {
    _PUT_OK: _SUCCESS,
    PutStatus.FLUSH_DISK_TIMEOUT: int(ResponseCode.FLUSH_DISK_TIMEOUT),
    PutStatus.FLUSH_SLAVE_TIMEOUT: int(ResponseCode.FLUSH_SLAVE_TIMEOUT),
    PutStatus.SLAVE_NOT_AVAILABLE: int(ResponseCode.SLAVE_NOT_AVAILABLE),
}
_NOT_STORED = {
    PutStatus.CREATE_FILE_FAILED: (
        ResponseCode.SYSTEM_ERROR,
        "create mapped file failed, server is busy or broken.",
    ),
    PutStatus.MESSAGE_ILLEGAL: (ResponseCode.MESSAGE_ILLEGAL, _ILLEGAL),
    PutStatus.PROPERTIES_SIZE_EXCEEDED: (ResponseCode.MESSAGE_ILLEGAL, _ILLEGAL),
    PutStatus.SERVICE_NOT_AVAILABLE: (
        ResponseCode.SERVICE_NOT_AVAILABLE,
        "service not available now, maybe disk full, maybe your broker machine memory "
        "too small.",
    ),
    PutStatus.OS_PAGE_CACHE_BUSY: (
        ResponseCode.SYSTEM_ERROR,
        "[PC_SYNCHRONIZED]broker busy, start flow control for a while",
    ),
}


Put = Callable[[NewMessage, int], PutResult]


class Names(NamedTuple):
    """What the header fields of a send are called."""

    topic: str
    default_topic: str
    default_queue_count: str
    queue_id: str
    system_flags: str
    born_at_ms: str
    flag: str
    properties: str
    reconsume_times: str
    unit_mode: str
    reconsume_times_max: str
    batch: str


SPELT_OUT = Names(
    "topic",
    "defaultTopic",
    "defaultTopicQueueNums",
    "queueId",
    "sysFlag",
    "bornTimestamp",
    "flag",
    "properties",
    "reconsumeTimes",
    "unitMode",
    "maxReconsumeTimes",
    "batch",
)
LETTERS = Names(*"bcdefghijklm")  # [SEND-HEADER-004]


def send_message(broker: Broker, request: Request) -> Answer | None:
    """Store a message, or a batch when the header says so."""
    if broker.store.is_overloaded(request.now_ms):
        return refusal(ResponseCode.SYSTEM_BUSY, BUSY)
    answer = _send(broker, request)
    if answer is not None and not answer.fields:
        options = broker.options
        # [SEND-ANSWER-006]
        answer.fields = _broker_fields(options.region, options.is_traced)
    return answer


def _send(broker: Broker, request: Request) -> Answer | None:
    """Check; store the message or the batch; answer."""
    # [SEND-HEADER-001] [SEND-HEADER-003]
    names = SPELT_OUT if request.code == _SPELT_OUT_CODE else LETTERS
    topic, refused = check_send(broker, request, names)
    if topic is None:
        return refused
    queue_id = request.int32(names.queue_id)
    if queue_id < 0:
        queue_id = broker.next_number() % topic.write_queue_count  # [SEND-QUEUE-001]
    if request.truth(names.batch):  # [SEND-BATCH-009]
        return _send_batch(broker, request, names, topic=topic, queue_id=queue_id)
    message, refused = _message(broker, request, names, topic=topic, queue_id=queue_id)
    if message is None:
        return refused
    if is_prepared(message.properties):
        if broker.options.truth("rejectTransactionMessage"):
            return refusal(  # [TXN-HALF-004]
                ResponseCode.NO_PERMISSION,
                f"the broker[{broker.options.ip}] sending transaction message is "
                "forbidden",
            )
        message = prepare(message)  # [TXN-HALF-001]
    put = broker.store.put
    return put_message(broker, request, message, put=put, queue_id=queue_id)


def _send_batch(
    broker: Broker, request: Request, names: Names, *, topic: Topic, queue_id: int
) -> Answer | None:
    """Check what only batches have to keep; act; answer with all message ids."""
    if len(topic.name) > TOPIC_LENGTH_MAX:
        return refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"message topic length too long {len(topic.name)}",
        )
    if topic.name.startswith(RETRY_PREFIX):
        return refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            # [SEND-BATCH-003]
            f"batch request does not support retry group {topic.name}",
        )
    message = new_message(broker, request, names, topic=topic, queue_id=queue_id)
    put = broker.store.put_batch
    return put_message(broker, request, message, put=put, queue_id=queue_id)


def put_message(
    broker: Broker, request: Request, message: NewMessage, *, put: Put, queue_id: int
) -> Answer | None:
    """Store a message or a batch; answer when what was promised of it holds."""
    result = put_in_role(broker.options, message, request.now_ms, put)
    broker.stored(result)
    if result.is_stored:
        broker.traffic.has_put(message.topic, result)
    answer = partial(answer_to_put, broker, queue_id=queue_id)
    return acknowledge(broker, request, message, result=result, answer=answer)


def check_send(
    broker: Broker, request: Request, names: Names
) -> tuple[Topic | None, Answer]:
    """Return the topic to send to; None, with the refusal, when that cannot be."""
    start_ms = broker.options.accepts_sends_from_ms
    if request.now_ms < start_ms:  # [SEND-STATE-001]
        remark = f"broker unable to service, until {start_ms}"
        return None, refusal(SYSTEM_ERROR, remark)
    name = request.text(names.topic)
    topic = broker.topics.get(name)
    # [SEND-PERM-001] [SEND-PERM-002] [SEND-PERM-003]
    if topic is not None and topic.is_ordered and not broker.may_write:
        remark = f"the broker[{broker.options.ip}] sending message is forbidden"
        return None, refusal(ResponseCode.NO_PERMISSION, remark)
    if name == DEFAULT_TOPIC:  # [SEND-TOPIC-010]
        remark = f"the topic[{name}] is conflict with system reserved words."
        return None, refusal(SYSTEM_ERROR, remark)
    if topic is None:
        topic = _create_topic(broker, request, names, name=name)
        if topic is None:
            remark = f"topic[{name}] not exist, apply first please!{SEE_FAQ}"
            # [SEND-TOPIC-007]
            return None, refusal(ResponseCode.TOPIC_NOT_EXIST, remark)
    queue_id = request.int32(names.queue_id)
    # [SEND-QUEUE-002] [SEND-QUEUE-004]
    if queue_id >= topic.queue_count:
        peer = broker.connections[request.connection].remote
        remark = f"request queueId[{queue_id}] is illegal, {topic} Producer: {peer}"
        return None, refusal(SYSTEM_ERROR, remark)
    return topic, _FINE


def _create_topic(
    broker: Broker, request: Request, names: Names, *, name: str
) -> Topic | None:
    is_retry = name.startswith(RETRY_PREFIX)
    flag = 0
    if request.truth(names.unit_mode):  # [SEND-TOPIC-012]
        flag = UNIT_SUBSCRIPTION_FLAG if is_retry else UNIT_FLAG
    # [SEND-TOPIC-005] [SEND-TOPIC-006] [SEND-TOPIC-011]
    topic = broker.topics.create_like(
        name,
        default=request.text(names.default_topic),
        queue_count=request.int32(names.default_queue_count),
        flag=flag,
        now_ms=request.now_ms,
    )
    if topic is None and is_retry:  # [SEND-TOPIC-016]
        topic = broker.topics.create_once(
            name,
            queue_count=1,
            permission=PERM_READ | PERM_WRITE,
            now_ms=request.now_ms,
            flag=flag,
        )
    return topic


def _message(
    broker: Broker, request: Request, names: Names, *, topic: Topic, queue_id: int
) -> tuple[NewMessage | None, Answer]:
    """Return the message to store; a retried once too often goes elsewhere."""
    cluster = broker.options.cluster  # [SEND-PROPS-003]
    message = new_message(
        broker, request, names, topic=topic, queue_id=queue_id, cluster=cluster
    )
    if not topic.name.startswith(RETRY_PREFIX):
        return message, _FINE
    return dead_letter_instead(
        broker, message, request, count_name=names.reconsume_times_max
    )


def new_message(
    broker: Broker,
    request: Request,
    names: Names,
    *,
    topic: Topic,
    queue_id: int,
    cluster: str | None = None,
) -> NewMessage:
    """Return the message that a send asks to be stored, for this queue.

    With *cluster*, its properties say so.
    """
    system_flags = request.int32(names.system_flags)  # [SEND-FLAG-002]
    if topic.has_many_tags:  # [SEND-FLAG-003]
        system_flags |= MULTI_TAGS_FLAG
    properties = request.optional_text(names.properties) or ""  # [SEND-HEADER-002]
    if cluster is not None:
        properties = with_property(properties, "CLUSTER", cluster)
    return NewMessage(
        topic.name,
        queue_id,
        request.body,  # [SEND-BODY-001] [SEND-BODY-002]
        properties,
        request.int32(names.flag),  # [SEND-FLAG-001]
        system_flags,
        request.int64(names.born_at_ms),  # [SEND-TIME-001]
        broker.connections[request.connection].remote,  # [SEND-HOST-001]
        broker.store_host,  # [SEND-HOST-002]
        request.optional_int32(names.reconsume_times),  # [SEND-RETRY-001]
        0,
        "WAIT\x01false" not in properties,
    )


def with_property(properties: str, name: str, value: str) -> str:
    """Return *properties* with one more, as 4.6.0 writes them back.

    Pairs that are not a name and a value are lost on the way; a property without a
    value is such a pair.
    """
    whole = properties.endswith(_VALUE_END) or not properties
    pairs = properties if whole else properties + _VALUE_END
    is_odd = (
        _NO_VALUE in pairs
        or pairs.count(_NAME_END) != pairs.count(_VALUE_END)
        or name + _NAME_END in pairs
    )
    if not is_odd:
        return f"{pairs}{name}{_NAME_END}{value}{_VALUE_END}"
    return encode_properties({**decode_properties(properties), name: value})


def answer_to_put(broker: Broker, result: PutResult, *, queue_id: int) -> Answer:
    """Return what a producer is told of a message that was put."""
    options = broker.options
    fields = _broker_fields(options.region, options.is_traced)  # [SEND-ANSWER-004]
    # As nearly always; an enumeration's member is slow to look up.
    code = _SUCCESS if result.status is _PUT_OK else _STORED.get(result.status)
    if code is None:
        refused, remark = _NOT_STORED.get(
            result.status, (ResponseCode.SYSTEM_ERROR, "UNKNOWN_ERROR")
        )
        return Answer(int(refused), remark, fields)
    fields["msgId"] = result.message_id  # [SEND-ANSWER-001] [SEND-ANSWER-002]
    fields["queueId"] = queue_id  # [TXN-HALF-003]
    fields["queueOffset"] = result.queue_offset  # [SEND-ANSWER-003]
    form = _form(code, options.region, options.is_traced)
    return Answer(code, None, fields, form=form)


def _broker_fields(region: str, is_traced: bool) -> dict[str, object]:
    """Return what every answer to a send says, whatever became of the message."""
    return {
        "MSG_REGION": region,  # [SEND-ANSWER-005]
        "TRACE_ON": is_traced,
    }


@lru_cache(maxsize=16)
def _form(code: int, region: str, is_traced: bool) -> AnswerForm:
    """Return what writes the answers that say where a message is."""
    pattern = Answer(code, None, _broker_fields(region, is_traced))
    return AnswerForm(pattern, ("msgId", "queueId", "queueOffset"))
