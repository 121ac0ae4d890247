"""
How clients join and leave groups, and how the others of a group learn of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reference.core.answer import SYSTEM_ERROR, Answer, encode_notice, refusal
from reference.core.broker.clients import Client, ConsumerGroup
from reference.core.broker.subscription import TAG, subscription_of
from reference.core.broker.topics import (
    PERM_READ,
    PERM_WRITE,
    RETRY_PREFIX,
    UNIT_SUBSCRIPTION_FLAG,
)
from reference.core.request import Request
from spec.wire import fastjson
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker


class HeartbeatError(ValueError):
    """A heartbeat's body is not what a client sends."""


def heartbeat(broker: Broker, request: Request) -> Answer:
    """Note that a client lives, and what it is there for."""
    data = _object(request.body)
    client_id = str(data.get("clientID"))  # [GROUP-HEARTBEAT-001]
    consumers = [_object_in(value) for value in data.get("consumerDataSet") or ()]
    producers = [_object_in(value) for value in data.get("producerDataSet") or ()]
    for consumer in consumers:
        _join_consumers(broker, request, client_id=client_id, consumer=consumer)
    for producer in producers:
        group = broker.clients.producers.setdefault(str(producer["groupName"]), {})
        group[request.connection] = _client(request, client_id)
    return Answer()


def unregister_client(broker: Broker, request: Request) -> Answer:
    """Let a client leave its groups."""
    producer_group = request.optional_text("producerGroup")
    if producer_group is not None:
        broker.clients.leave_producer(producer_group, request.connection)
    consumer_group = request.optional_text("consumerGroup")
    if consumer_group is not None:
        # [GROUP-MEMBER-005]
        left = broker.clients.leave_consumer(consumer_group, request.connection)
        if left is not None:  # [GROUP-MEMBER-010]
            tell_members(broker, left, request.now_ms)
            if not left.members:
                broker.filters.leave(left.name, request.now_ms)
    return Answer()


def check_client(broker: Broker, request: Request) -> Answer:
    """Say whether this broker can do what a client's subscription asks."""
    subscription = _object(request.body).get("subscriptionData")
    if isinstance(subscription, Mapping):
        expression_type = str(subscription.get("expressionType") or TAG)
        enabled = broker.options.truth("enablePropertyFilter")
        if expression_type != TAG and not enabled:
            return refusal(
                SYSTEM_ERROR,
                "The broker does not support consumer to filter message by "
                f"{expression_type}",
            )
        wanted = subscription_of({"topic": "", **subscription})
        if not wanted.is_by_tag and wanted.expression is None:  # [PULL-SQL-012]
            remark = f"{wanted.text!r} is no expression"
            return refusal(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark)
    return Answer()


def consumers_of_group(broker: Broker, request: Request) -> Answer:
    """List the client ids of a consumer group's members."""
    name = request.text("consumerGroup")
    group = broker.clients.consumers.get(name)
    if group is None or not group.members:  # [GROUP-MEMBER-002]
        return refusal(SYSTEM_ERROR, f"no consumer for this group, {name}")
    ids = [member.client_id for member in group.members.values()]  # [GROUP-MEMBER-001]
    return Answer(body=fastjson.dumps({"consumerIdList": ids}))


def tell_members(broker: Broker, group: ConsumerGroup, now_ms: int) -> None:
    """Tell all members of a group that it has changed, unless that is switched off."""
    config = broker.groups.find(group.name, now_ms)
    enabled = broker.options.truth("notifyConsumerIdsChangedEnable")
    if not enabled or (config is not None and not config.notifies_changes):
        return
    notice = encode_notice(
        RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {"consumerGroup": group.name}
    )
    for connection in group.members:  # [GROUP-MEMBER-003]
        broker.send(connection, notice)


def _join_consumers(
    broker: Broker, request: Request, *, client_id: str, consumer: Mapping[str, Any]
) -> None:
    name = str(consumer["groupName"])
    config = broker.groups.find(name, request.now_ms)
    if config is not None:
        is_unit = bool(consumer.get("unitMode"))
        broker.topics.create_once(
            RETRY_PREFIX + name,  # [GROUP-RETRY-001]
            queue_count=config.retry_queue_count,
            permission=PERM_READ | PERM_WRITE,
            now_ms=request.now_ms,
            flag=UNIT_SUBSCRIPTION_FLAG if is_unit else 0,
        )
    wanted = [
        subscription_of(_object_in(value))
        for value in consumer.get("subscriptionDataSet") or ()
    ]
    group = broker.clients.consumers.setdefault(name, ConsumerGroup(name))
    group.consume_type = str(consumer.get("consumeType"))  # [GROUP-HEARTBEAT-002]
    group.message_model = str(consumer.get("messageModel"))
    group.consume_from = str(consumer.get("consumeFromWhere"))
    is_new = group.join(_client(request, client_id))
    if group.subscribe(wanted) or is_new:  # [GROUP-MEMBER-004] [GROUP-MEMBER-007]
        tell_members(broker, group, request.now_ms)
    broker.filters.subscribe(name, wanted, request.now_ms)


def _client(request: Request, client_id: str) -> Client:
    return Client(
        request.connection,
        client_id,
        request.language,
        request.version,
        request.now_ms,
    )


def _object(body: bytes) -> Mapping[str, Any]:
    """Return the JSON object in *body*."""
    return _object_in(fastjson.loads(body))


def _object_in(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise HeartbeatError("the body is no JSON object where there must be one")
    return value
