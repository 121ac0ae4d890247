"""
PULL_MESSAGE: messages of one queue from an offset on (Java: PullMessageProcessor).

A pull that finds nothing new and allows it is held, see `long_polling`. It may commit
the consumer's offset on the way. A slave does not correct offsets, since its own log
may be behind its master's.
"""

from __future__ import annotations

from reference.core.broker.filter.subscription import Subscription, parse_subscription
from reference.core.broker.ports import Ports
from reference.core.broker.pull.pull_request import PULL_TRANSITIONS, Pull, PullEvent
from reference.core.broker.send.put_result import put_message
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import PERM_READ
from reference.core.remoting.request import (
    Refused,
    Request,
    demand,
    request_decoder,
)
from reference.core.remoting.response import SYSTEM_ERROR, Response
from reference.core.store.get_message import MessageFilter
from reference.core.store.types import GetMessageStatus, NewMessage
from spec.routing.route_data import MASTER_ID
from spec.store.config.group_settings import SubscriptionGroupConfig
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_body import body_as_json
from spec.wire.consumer.pull import PullFlag
from spec.wire.headers.request_headers import (
    PULL_MESSAGE_FIELDS,
    PullMessageRequestHeader,
)
from spec.wire.message.properties import Property, encode_properties
from spec.wire.message.topic_names import OFFSET_MOVED_TOPIC
from spec.wire.remoting.response_code import SEE_FAQ, ResponseCode

FLAG_COMMIT_OFFSET = int(PullFlag.COMMIT_OFFSET)
FLAG_SUSPEND = int(PullFlag.SUSPEND)
FLAG_SUBSCRIPTION = int(PullFlag.SUBSCRIPTION)
"""Bits of sysFlag (Java: PullSysFlag); an enumeration's members are slow to look up."""

_CODES = {
    GetMessageStatus.FOUND: ResponseCode.SUCCESS,
    GetMessageStatus.MESSAGE_WAS_REMOVING: ResponseCode.PULL_RETRY_IMMEDIATELY,
    GetMessageStatus.NO_MATCHED_MESSAGE: ResponseCode.PULL_RETRY_IMMEDIATELY,
    GetMessageStatus.OFFSET_FOUND_NULL: ResponseCode.PULL_NOT_FOUND,
    # [PULL-MAXOFFSET-002]
    GetMessageStatus.OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,
    GetMessageStatus.OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
    GetMessageStatus.OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
}
"""The response code for each status; that of an empty queue depends on the offset."""

_decode = request_decoder(PullMessageRequestHeader, PULL_MESSAGE_FIELDS)


def handle_pull_message(
    state: BrokerState, ports: Ports, request: Request
) -> Response | None:
    """Respond with messages, or hold the request."""
    header = _decode(request)
    wait_ms = 0
    if header.sys_flag & FLAG_SUSPEND:  # [WIRE-COMMAND-013]
        wait_ms = demand(header.suspend_timeout_millis, "suspendTimeoutMillis")
    if not state.options.long_polling_enable:
        wait_ms = state.options.short_polling_time_mills  # [PULL-HOLD-006]
    group, subscription = check_pull(state, request, header)
    pull = Pull(
        request=request,
        header=header,
        subscription=subscription,
        deadline_ms=request.now_ms + max(wait_ms, 0),
    )
    response = pull_response(state, pull, group)
    # [PULL-COMMIT-001] [PULL-COMMIT-002] [HA-SLAVE-010]
    if header.sys_flag & FLAG_COMMIT_OFFSET and not state.options.is_slave:
        offset = demand(header.commit_offset, "commitOffset")
        state.offsets.commit(
            header.consumer_group, header.topic, header.queue_id, offset
        )
    # [PULL-HOLD-004]
    if response.code == ResponseCode.PULL_NOT_FOUND and header.sys_flag & FLAG_SUSPEND:
        pull.state = PULL_TRANSITIONS[pull.state, PullEvent.NOTHING_NEW]
        ports.hold_pull(pull)  # [PULL-HOLD-001]
        return None
    pull.state = PULL_TRANSITIONS[pull.state, PullEvent.RESPONSE_READY]
    return response


def pull_response(
    state: BrokerState, pull: Pull, group: SubscriptionGroupConfig
) -> Response:
    """Return the response to one try of a pull of *group* that was checked."""
    header, options, subscription = pull.header, state.options, pull.subscription
    unit_filter = None
    if not (subscription.is_by_tag or header.sys_flag & FLAG_SUBSCRIPTION):
        unit_filter = state.filters.bitmap_filter(group.name, header.topic)
    offset = header.queue_offset
    result = state.store.get(  # [PULL-FOUND-001]
        header.topic,
        header.queue_id,
        offset,
        header.max_msg_nums,
        MessageFilter(
            subscription.codes,
            subscription.accepts if subscription.expression is not None else None,
            unit_filter,
        ),
    )
    state.statistics.on_get(group.name, header.topic, result)
    code = _CODES.get(result.status)
    if code is None:
        code = ResponseCode.PULL_OFFSET_MOVED if offset else ResponseCode.PULL_NOT_FOUND
    broker_id = MASTER_ID  # [PULL-FOUND-005] [HA-SLAVE-014]
    if options.slave_read_enable:  # [PULL-FOUND-006]
        is_slow = result.suggest_slave
        broker_id = group.broker_when_slow if is_slow else group.broker_id
    if code == ResponseCode.PULL_OFFSET_MOVED:
        if not options.is_slave or options.offset_check_in_slave:
            _append_offset_moved(state, pull, result.next_begin_offset)
        else:  # [HA-SLAVE-009]
            result = result._replace(next_begin_offset=offset)
            code, broker_id = ResponseCode.PULL_RETRY_IMMEDIATELY, group.broker_id
    fields: dict[str, object] = {
        "maxOffset": result.max_offset,  # [PULL-FOUND-003]
        "minOffset": result.min_offset,
        "nextBeginOffset": result.next_begin_offset,
        "suggestWhichBrokerId": broker_id,
    }
    # [PULL-FOUND-004]
    return Response(int(code), result.status.name, fields, records=result.records)


def check_pull(
    state: BrokerState,
    request: Request,
    header: PullMessageRequestHeader,
    parsed: Subscription | None = None,
) -> tuple[SubscriptionGroupConfig, Subscription]:
    """Return the group and its subscription to the topic; raise Refused.

    *parsed* is the subscription of an earlier try. A request that contains its own is
    not parsed again.
    """
    options = state.options
    if not options.may_read:  # [PULL-PERM-003]
        remark = f"the broker[{options.broker_ip1}] pulling message is forbidden"
        raise Refused(ResponseCode.NO_PERMISSION, remark)
    name = header.consumer_group
    group = state.groups.table.get(name)
    if group is None:
        group = state.groups.find(name, request.now_ms)
    if group is None:  # [PULL-GROUP-004]
        remark = f"subscription group [{name}] does not exist, {SEE_FAQ}"
        raise Refused(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    if not group.can_consume:  # [PULL-PERM-002]
        remark = f"subscription group no permission, {name}"
        raise Refused(ResponseCode.NO_PERMISSION, remark)
    topic = state.topics.table.get(header.topic)
    if topic is None:  # [PULL-TOPIC-001]
        remark = f"topic[{header.topic}] not exist, apply first please! {SEE_FAQ}"
        raise Refused(ResponseCode.TOPIC_NOT_EXIST, remark)
    if not topic.permission & PERM_READ:  # [PULL-PERM-001]
        remark = f"the topic[{topic.name}] pulling message is forbidden"
        raise Refused(ResponseCode.NO_PERMISSION, remark)
    if not 0 <= header.queue_id < topic.read_queue_count:  # [PULL-QUEUE-001]
        peer = state.connections[request.connection].remote
        raise Refused(
            SYSTEM_ERROR,
            f"queueId[{header.queue_id}] is illegal, topic:[{topic.name}] "
            f"topicConfig.readQueueNums:[{topic.read_queue_count}] consumer:[{peer}]",
        )
    if not header.sys_flag & FLAG_SUBSCRIPTION:
        subscription = _heartbeat_subscription(state, header, group)
    else:
        subscription = parsed or parse_subscription(
            header.topic, header.subscription, header.expression_type
        )
    # [PULL-FILTER-007]
    if not subscription.is_by_tag and not options.enable_property_filter:
        kind = subscription.data.expression_type
        remark = f"The broker does not support consumer to filter message by {kind}"
        raise Refused(SYSTEM_ERROR, remark)
    return group, subscription


def _heartbeat_subscription(
    state: BrokerState, header: PullMessageRequestHeader, group: SubscriptionGroupConfig
) -> Subscription:
    """Return the subscription of the group's last heartbeat; raise Refused."""
    members = state.clients.consumers.get(group.name)
    if members is None:  # [PULL-GROUP-001]
        remark = f"the consumer's group info not exist{SEE_FAQ}"
        raise Refused(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark)
    if not group.can_broadcast and members.message_model == "BROADCASTING":
        # [PULL-PERM-004]
        remark = f"the consumer group[{group.name}] can not consume by broadcast way"
        raise Refused(ResponseCode.NO_PERMISSION, remark)
    subscription = members.subscriptions.get(header.topic)  # [PULL-GROUP-002]
    if subscription is None:
        remark = f"the consumer's subscription not exist{SEE_FAQ}"
        raise Refused(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark)
    # [PULL-GROUP-003]
    if subscription.data.version < demand(header.sub_version, "subVersion"):
        remark = "the consumer's subscription not latest"
        raise Refused(ResponseCode.SUBSCRIPTION_NOT_LATEST, remark)
    if not subscription.is_by_tag and subscription.expression is None:
        remark = "there is no filter of this consumer: its expression may be wrong"
        # [PULL-SQL-011]
        raise Refused(ResponseCode.FILTER_DATA_NOT_EXIST, remark)
    return subscription


def _append_offset_moved(state: BrokerState, pull: Pull, offset: int) -> None:
    """Append the event of a pull at an offset that the queue does not have."""
    header, now_ms = pull.header, pull.request.now_ms
    group = header.consumer_group
    queue = state.queue_name(header.topic, header.queue_id)
    event = {
        "consumerGroup": group,
        "messageQueue": body_as_json(queue),
        "offsetNew": offset,
        "offsetRequest": header.queue_offset,
    }
    message = NewMessage(
        topic=OFFSET_MOVED_TOPIC,
        queue_id=0,
        body=fastjson.dumps(event),
        properties=encode_properties(
            # [PULL-EVENT-001] [PULL-EVENT-002]
            {Property.KEYS: group, Property.DELAY: "0", Property.TAGS: group}
        ),
        born_at_ms=now_ms,
        born_host=state.store_host,
        store_host=state.store_host,
    )
    put_message(state, message, now_ms)
