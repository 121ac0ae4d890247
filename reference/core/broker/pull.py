"""
Pulling: a consumer asks for messages of one queue, from an offset on.

When there is nothing new and the consumer is willing to wait, the pull is held and
answered later, see ``held_pulls``. On the way a consumer may commit how far it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.broker.held_pulls import HeldPull
from reference.core.broker.slave_pull import (
    corrects_offsets,
    suggested_broker,
    uncorrected,
)
from reference.core.broker.subscription import (
    Subscription,
    SubscriptionError,
    parse_subscription,
)
from reference.core.broker.subscription_groups import SubscriptionGroup
from reference.core.broker.topics import OFFSET_MOVED_TOPIC, PERM_READ
from reference.core.request import Request
from reference.core.store.api import GetResult, GetStatus, NewMessage
from reference.core.store.reading import MayMatch
from spec.wire import fastjson
from spec.wire.properties import Property, encode_properties
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

SEE_FAQ = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
COMMITS_OFFSET = 1
MAY_WAIT = 2
BRINGS_SUBSCRIPTION = 4

_CODES = {
    GetStatus.FOUND: ResponseCode.SUCCESS,
    GetStatus.MESSAGE_WAS_REMOVING: ResponseCode.PULL_RETRY_IMMEDIATELY,
    GetStatus.NO_MATCHED_MESSAGE: ResponseCode.PULL_RETRY_IMMEDIATELY,
    GetStatus.OFFSET_FOUND_NULL: ResponseCode.PULL_NOT_FOUND,
    GetStatus.OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,  # [PULL-END-002]
    GetStatus.OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
    GetStatus.OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
}
"""The answer to each status; an empty queue's depends on the offset."""


def pull_message(broker: Broker, request: Request) -> Answer | None:
    """Answer a pull, or hold it."""
    answer = pull_once(broker, request, may_hold=True)
    # [PULL-COMMIT-001] [PULL-COMMIT-002]
    is_commit = bool(request.int32("sysFlag") & COMMITS_OFFSET)
    # [HA-SLAVE-010]
    if is_commit and _was_valid(answer) and not broker.options.is_slave:
        broker.offsets.commit(
            request.text("consumerGroup"),
            request.text("topic"),
            request.int32("queueId"),
            request.int64("commitOffset"),
        )
    return answer


def pull_once(broker: Broker, request: Request, *, may_hold: bool) -> Answer | None:
    """Return the answer to a pull as things are; None when it is held instead."""
    group, refused = _check_group(broker, request)
    if group is None:
        return refused
    wrong = _check_queue(broker, request)
    if wrong is not None:
        return wrong
    subscription, refused = _find_subscription(broker, request, group)
    if subscription is None:
        return refused
    topic, queue_id = request.text("topic"), request.int32("queueId")
    offset = request.int64("queueOffset")
    result = broker.store.get(  # [PULL-FOUND-001]
        topic,
        queue_id,
        offset,
        request.int32("maxMsgNums"),
        subscription.codes,
        subscription.accepts if subscription.looks_at_records else None,
        may_match=_prefilter(broker, request, subscription),
    )
    broker.traffic.has_got(group.name, topic, result)
    code = _code(result, offset)
    flags = request.int32("sysFlag")
    # [PULL-HOLD-004]
    if code == ResponseCode.PULL_NOT_FOUND and may_hold and flags & MAY_WAIT:
        wait_ms = request.int64("suspendTimeoutMillis")
        if not broker.options.truth("longPollingEnable"):
            wait_ms = broker.options.number("shortPollingTimeMills")
        deadline_ms = request.now_ms + max(wait_ms, 0)
        pull = HeldPull(request, offset, deadline_ms, subscription)
        broker.hold((topic, queue_id), pull)  # [PULL-HOLD-001]
        return None
    if code == ResponseCode.PULL_OFFSET_MOVED:
        if corrects_offsets(broker.options):
            _tell_offset_moved(broker, request, result.next_begin_offset)
        else:
            return _answer(*uncorrected(result, offset), group.broker_id)
    return _answer(code, result, suggested_broker(broker.options, result, group))


def _code(result: GetResult, offset: int) -> int:
    code = _CODES.get(result.status)
    if code is None:
        is_moved = offset != 0
        code = ResponseCode.PULL_NOT_FOUND
        if is_moved:
            code = ResponseCode.PULL_OFFSET_MOVED
    return int(code)


def _answer(code: int, result: GetResult, broker_id: int) -> Answer:
    fields: dict[str, object] = {
        "maxOffset": result.max_offset,  # [PULL-FOUND-003]
        "minOffset": result.min_offset,
        "nextBeginOffset": result.next_begin_offset,
        "suggestWhichBrokerId": broker_id,
    }
    # [PULL-FOUND-004]
    return Answer(code, result.status.name, fields, records=result.records)


def _was_valid(answer: Answer | None) -> bool:
    """Return whether a pull got as far as the store, which commits its offset."""
    return answer is None or "nextBeginOffset" in answer.fields


def _check_group(
    broker: Broker, request: Request
) -> tuple[SubscriptionGroup | None, Answer]:
    if not broker.may_read:
        return None, refusal(
            ResponseCode.NO_PERMISSION,
            f"the broker[{broker.options.ip}] pulling message is forbidden",
        )
    name = request.text("consumerGroup")
    group = broker.groups.find(name, request.now_ms)
    if group is None:
        return None, refusal(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            f"subscription group [{name}] does not exist, {SEE_FAQ}",
        )
    if not group.may_consume:  # [PULL-PERM-002]
        return None, refusal(
            ResponseCode.NO_PERMISSION, f"subscription group no permission, {name}"
        )
    return group, Answer()


def _check_queue(broker: Broker, request: Request) -> Answer | None:
    name, queue_id = request.text("topic"), request.int32("queueId")
    topic = broker.topics.get(name)
    if topic is None:  # [PULL-TOPIC-001]
        return refusal(
            ResponseCode.TOPIC_NOT_EXIST,
            f"topic[{name}] not exist, apply first please! {SEE_FAQ}",
        )
    if not topic.permission & PERM_READ:  # [PULL-PERM-001]
        return refusal(
            ResponseCode.NO_PERMISSION,
            f"the topic[{name}] pulling message is forbidden",
        )
    if not 0 <= queue_id < topic.read_queue_count:  # [PULL-QUEUE-001]
        peer = broker.connections[request.connection].remote
        return refusal(
            SYSTEM_ERROR,
            f"queueId[{queue_id}] is illegal, topic:[{name}] "
            f"topicConfig.readQueueNums:[{topic.read_queue_count}] consumer:[{peer}]",
        )
    return None


def _find_subscription(
    broker: Broker, request: Request, group: SubscriptionGroup
) -> tuple[Subscription | None, Answer]:
    """Return what the consumer wants: it says so here, or did in a heartbeat."""
    topic = request.text("topic")
    if request.int32("sysFlag") & BRINGS_SUBSCRIPTION:
        try:
            subscription = parse_subscription(
                topic,
                request.optional_text("subscription"),
                request.optional_text("expressionType"),
            )
        except SubscriptionError:  # [PULL-FILTER-006]
            remark = "parse the consumer's subscription failed"
            return None, refusal(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark)
    else:
        known, refused = _known_subscription(broker, request, group)
        if known is None:
            return None, refused
        subscription = known
    if not subscription.is_by_tag and not broker.options.truth("enablePropertyFilter"):
        # [PULL-FILTER-007]
        return None, refusal(
            SYSTEM_ERROR,
            "The broker does not support consumer to filter message by "
            f"{subscription.expression_type}",
        )
    return subscription, Answer()


def _prefilter(
    broker: Broker, request: Request, subscription: Subscription
) -> MayMatch | None:
    """Return what passes messages over without reading them, if there is something."""
    is_brought = request.int32("sysFlag") & BRINGS_SUBSCRIPTION
    if is_brought or subscription.is_by_tag:
        return None  # [PULL-SQL-016]
    group = request.text("consumerGroup")
    return broker.filters.prefilter(group, subscription.topic)


def _known_subscription(
    broker: Broker, request: Request, group: SubscriptionGroup
) -> tuple[Subscription | None, Answer]:
    members = broker.clients.consumers.get(group.name)
    if members is None:  # [PULL-GROUP-001]
        remark = f"the consumer's group info not exist{SEE_FAQ}"
        return None, refusal(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark)
    if not group.may_broadcast and members.message_model == "BROADCASTING":
        remark = f"the consumer group[{group.name}] can not consume by broadcast way"
        return None, refusal(ResponseCode.NO_PERMISSION, remark)
    subscription = members.subscriptions.get(request.text("topic"))  # [PULL-GROUP-002]
    if subscription is None:
        remark = f"the consumer's subscription not exist{SEE_FAQ}"
        return None, refusal(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark)
    if subscription.version < request.int64("subVersion"):  # [PULL-GROUP-003]
        remark = "the consumer's subscription not latest"
        return None, refusal(ResponseCode.SUBSCRIPTION_NOT_LATEST, remark)
    if not subscription.is_by_tag and subscription.expression is None:
        remark = "there is no filter of this consumer: its expression may be wrong"
        # [PULL-SQL-011]
        return None, refusal(ResponseCode.FILTER_DATA_NOT_EXIST, remark)
    return subscription, Answer()


def _tell_offset_moved(broker: Broker, request: Request, offset: int) -> None:
    """Store the event that a consumer asked for an offset that is not there."""
    group = request.text("consumerGroup")
    event = {
        "consumerGroup": group,
        "messageQueue": {
            "brokerName": broker.options.name,
            "queueId": request.int32("queueId"),
            "topic": request.text("topic"),
        },
        "offsetNew": offset,
        "offsetRequest": request.int64("queueOffset"),
    }
    message = NewMessage(
        topic=OFFSET_MOVED_TOPIC,
        queue_id=0,
        body=fastjson.dumps(event),
        properties=encode_properties(
            # [PULL-EVENT-001] [PULL-EVENT-002]
            {Property.KEYS: group, Property.DELAY: "0", Property.TAGS: group}
        ),
        born_at_ms=request.now_ms,
        born_host=broker.store_host,
        store_host=broker.store_host,
    )
    broker.stored(broker.store.put(message, request.now_ms))
