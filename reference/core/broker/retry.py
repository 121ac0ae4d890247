"""
Retries: a message that a consumer could not digest comes back, later and later.

The consumer hands it back; it goes to the retry topic of the group, through a delay
level that grows with each attempt. After the last attempt it goes to the group's
dead-letter topic, which nobody consumes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.broker.acknowledgement import BUSY, acknowledge
from reference.core.broker.role import put_in_role
from reference.core.broker.subscription_groups import SubscriptionGroup
from reference.core.broker.topics import (
    DEAD_LETTER_PREFIX,
    PERM_READ,
    PERM_WRITE,
    RETRY_PREFIX,
    UNIT_SUBSCRIPTION_FLAG,
    Topic,
)
from reference.core.request import Request
from reference.core.store.api import NewMessage, PutResult, PutStatus
from reference.core.store.words import word
from spec.store.message_record import Record
from spec.wire.message_id import encode_message_id
from spec.wire.properties import Property, decode_properties, encode_properties
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

SEE_FAQ = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
FIRST_DELAY_LEVEL = 3
"""The delay level of the first retry; each further retry takes the next one."""
_CLIENT_KNOWS_TIMES_MAX = 121
"""Clients from here on say how often a message is retried (Java: V3_4_9)."""
_IS_DELAY = re.compile(r"\+?0*[1-9][0-9]*")
"""A level that delays, as a property's text: 0 and -1 do not."""


def send_back(broker: Broker, request: Request) -> Answer | None:
    """Take back a message that a consumer could not digest."""
    if broker.store.is_overloaded(request.now_ms):
        return refusal(ResponseCode.SYSTEM_BUSY, BUSY)
    name = request.text("group")
    group = broker.groups.find(name, request.now_ms)
    if group is None:
        return _unknown_group(name)
    if not broker.may_write:
        return refusal(
            ResponseCode.NO_PERMISSION,
            f"the broker[{broker.options.ip}] sending message is forbidden",
        )
    if group.retry_queue_count <= 0:
        return Answer()
    topic = _retry_topic(broker, group, request)
    if not topic.permission & PERM_WRITE:
        return refusal(
            ResponseCode.NO_PERMISSION,
            f"the topic[{topic.name}] sending message is forbidden",
        )
    record = broker.record_at(request.int64("offset"))
    if record is None:  # [RETRY-BACK-003]
        return refusal(
            SYSTEM_ERROR, f"look message by offset failed, {request.text('offset')}"
        )
    message = _come_back(broker, request, record, group=group)
    put = broker.store.put
    result = put_in_role(broker.options, message, request.now_ms, put)
    broker.stored(result)
    if result.is_stored:
        first_topic = word(message.properties, Property.RETRY_TOPIC) or record.topic
        broker.traffic.has_sent_back(name, first_topic)
    return acknowledge(broker, request, message, result=result, answer=_answer)


def _answer(result: PutResult) -> Answer:
    if result.status is PutStatus.PUT_OK:
        return Answer()
    return refusal(SYSTEM_ERROR, result.status.name)


def dead_letter_instead(
    broker: Broker, message: NewMessage, request: Request, *, count_name: str
) -> tuple[NewMessage | None, Answer]:
    """Return *message*, or the dead letter that it has become by too many retries.

    *count_name* is the field in which the request says how many are enough.
    """
    name = message.topic.removeprefix(RETRY_PREFIX)
    group = broker.groups.find(name, request.now_ms)
    if group is None:  # [SEND-RETRY-002]
        return None, _unknown_group(name)
    times_max = group.retry_times_max  # [SEND-RETRY-006]
    if request.version >= _CLIENT_KNOWS_TIMES_MAX:
        times_max = request.int32(count_name)  # [SEND-RETRY-007]
    if message.reconsume_times < times_max:
        return message, Answer()
    topic = _dead_letter_topic(broker, name, request.now_ms)
    return message._replace(topic=topic.name, queue_id=0), Answer()  # [SEND-RETRY-003]


def _come_back(
    broker: Broker, request: Request, record: Record, *, group: SubscriptionGroup
) -> NewMessage:
    """Return the message to store for *record*, of which its consumer was sick."""
    times_max = group.retry_times_max
    if request.version >= _CLIENT_KNOWS_TIMES_MAX:
        times_max = request.int32("maxReconsumeTimes")
    delay_level = request.int32("delayLevel")
    properties = decode_properties(record.properties)
    properties.setdefault(Property.RETRY_TOPIC, record.topic)  # [RETRY-BACK-002]
    properties[Property.WAIT] = "false"
    if record.reconsume_times >= times_max or delay_level < 0:  # [RETRY-DEAD-001]
        topic = _dead_letter_topic(broker, group.name, request.now_ms).name
        queue_id = 0
    else:
        topic = RETRY_PREFIX + group.name
        queue_id = broker.next_number() % group.retry_queue_count
        # [RETRY-BACK-001] [RETRY-BACK-004]
        level = delay_level or FIRST_DELAY_LEVEL + record.reconsume_times
        properties[Property.DELAY] = str(level)
    # 4.6.0 loses the first id on the way into the dead-letter topic, unless the
    # message was delayed before: the store delays it again, for its property stays.
    # [RETRY-DEAD-004] [RETRY-DEAD-006]
    if _IS_DELAY.fullmatch(properties.get(Property.DELAY, "")):
        first_id = encode_message_id(record.store_host, record.physical_offset)
        properties.setdefault(Property.ORIGIN_MESSAGE_ID, first_id)  # [RETRY-BACK-005]
    return NewMessage(
        topic=topic,
        queue_id=queue_id,
        body=record.body,
        properties=encode_properties(properties),
        flag=record.flag,
        system_flags=record.system_flags,
        born_at_ms=record.born_at_ms,
        born_host=record.born_host,
        store_host=broker.store_host,
        reconsume_times=record.reconsume_times + 1,
        wait_until_stored=False,
    )


def _retry_topic(broker: Broker, group: SubscriptionGroup, request: Request) -> Topic:
    is_unit = request.truth("unitMode")
    return broker.topics.create_once(
        RETRY_PREFIX + group.name,
        queue_count=group.retry_queue_count,
        permission=PERM_READ | PERM_WRITE,
        now_ms=request.now_ms,
        flag=UNIT_SUBSCRIPTION_FLAG if is_unit else 0,
    )


def _dead_letter_topic(broker: Broker, group: str, now_ms: int) -> Topic:
    return broker.topics.create_once(
        DEAD_LETTER_PREFIX + group,
        queue_count=1,
        permission=PERM_WRITE,  # [RETRY-DEAD-002]
        now_ms=now_ms,
    )


def _unknown_group(name: str) -> Answer:
    return refusal(
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        f"subscription group not exist, {name} {SEE_FAQ}",
    )
