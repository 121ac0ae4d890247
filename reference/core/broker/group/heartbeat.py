"""
HEART_BEAT and its kin: clients join and leave groups (Java: ClientManageProcessor).

When the members or the topics of a consumer group change, NOTIFY_CONSUMER_IDS_CHANGED
goes to every member, and each rebalances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reference.core.broker.filter.subscription import Subscription, subscription_of
from reference.core.broker.group.clients import Client, ConsumerGroup
from reference.core.broker.ports import Ports
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response, json_response
from reference.core.remoting.server import RemotingServer
from spec.wire.bodies import fastjson
from spec.wire.bodies.heartbeat import (
    GetConsumerListByGroupResponseBody,
    SubscriptionData,
)
from spec.wire.bodies.json_body import body_from_json
from spec.wire.bodies.json_object import JsonObject, as_object, list_in
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

_ENUMERATIONS: Mapping[str, Sequence[str]] = {
    "consumeType": ("CONSUME_ACTIVELY", "CONSUME_PASSIVELY"),
    "messageModel": ("BROADCASTING", "CLUSTERING"),
    "consumeFromWhere": (
        "CONSUME_FROM_LAST_OFFSET",
        "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
        "CONSUME_FROM_MIN_OFFSET",
        "CONSUME_FROM_MAX_OFFSET",
        "CONSUME_FROM_FIRST_OFFSET",
        "CONSUME_FROM_TIMESTAMP",
    ),
}
"""Names of Java's enumerations, in the order of their ordinals, by member."""


def handle_heartbeat(state: BrokerState, ports: Ports, request: Request) -> Response:
    """Record the groups and subscriptions of a client."""
    data = as_object(fastjson.loads(request.body))
    if data.get("clientID") is None:
        raise Refused(SYSTEM_ERROR, "a heartbeat needs a clientID")
    client_id = str(data["clientID"])  # [GROUP-HEARTBEAT-001]
    consumers = [as_object(one) for one in list_in(data, "consumerDataSet")]
    producers = [as_object(one) for one in list_in(data, "producerDataSet")]
    for consumer in consumers:
        name = str(consumer["groupName"])
        subscriptions = list_in(consumer, "subscriptionDataSet")
        wanted = [_subscription(as_object(one)) for one in subscriptions]
        # [GROUP-HEARTBEAT-002]
        enumerations = {one: _enumerator(consumer, one) for one in _ENUMERATIONS}
        config = state.groups.find(name, request.now_ms)
        if config is not None:
            is_unit = bool(consumer.get("unitMode"))
            state.topics.retry_topic(config, request.now_ms, is_unit=is_unit)
        group = state.clients.consumers.setdefault(name, ConsumerGroup(name))
        group.consume_type = enumerations["consumeType"]
        group.message_model = enumerations["messageModel"]
        group.consume_from = enumerations["consumeFromWhere"]
        is_new = group.join(Client.of(request, client_id))
        if group.subscribe(wanted) or is_new:  # [GROUP-MEMBER-004] [GROUP-MEMBER-007]
            notify_consumer_ids_changed(state, ports.remoting, group, request.now_ms)
        state.filters.subscribe(name, wanted, request.now_ms)
    for producer in producers:
        client = Client.of(request, client_id)
        state.clients.join_producer(str(producer["groupName"]), client)
    return Response()


def unregister_client(state: BrokerState, ports: Ports, request: Request) -> Response:
    """Remove a client from its groups."""
    producer_group = request.optional_text("producerGroup")
    if producer_group is not None:
        client_id = request.text_or_null("clientID")
        state.clients.leave_producer(producer_group, request.connection, client_id)
    consumer_group = request.optional_text("consumerGroup")
    if consumer_group is not None:
        # [GROUP-MEMBER-016]
        state.groups.find(consumer_group, request.now_ms)
        # [GROUP-MEMBER-005]
        left = state.clients.leave_consumer(consumer_group, request.connection)
        if left is not None:  # [GROUP-MEMBER-010]
            notify_consumer_ids_changed(state, ports.remoting, left, request.now_ms)
            on_member_left(state, left, request.now_ms)
    return Response()


def check_client(state: BrokerState, request: Request) -> Response:
    """Check that this broker supports the subscription of a client."""
    given = as_object(fastjson.loads(request.body)).get("subscriptionData")
    if isinstance(given, Mapping):
        wanted = _subscription({"topic": "", **given})
        kind = wanted.data.expression_type
        if not wanted.is_by_tag and not state.options.enable_property_filter:
            remark = "The broker does not support consumer to filter message by "
            raise Refused(SYSTEM_ERROR, remark + kind)
        if not wanted.is_by_tag and wanted.expression is None:  # [PULL-SQL-012]
            remark = f"{wanted.data.expression!r} is no expression"
            raise Refused(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark)
    return Response()


def consumers_of_group(state: BrokerState, request: Request) -> Response:
    """Respond with the client ids of a consumer group."""
    name = request.text("consumerGroup")
    group = state.clients.consumers.get(name)
    if group is None or not group.members:  # [GROUP-MEMBER-002]
        raise Refused(SYSTEM_ERROR, f"no consumer for this group, {name}")
    # [GROUP-MEMBER-001] [GROUP-MEMBER-012]
    ids = [member.client_id for member in group.members.values()]
    return json_response(GetConsumerListByGroupResponseBody(client_ids=tuple(ids)))


def on_connection_lost(
    state: BrokerState, remoting: RemotingServer, group: ConsumerGroup, now_ms: int
) -> None:
    """Notify the others of a member whose connection is closed.

    The group's own setting has no effect, and a deleted group is not created again
    (4.6.0 ConsumerManager#doChannelCloseEvent).
    """
    _notify_members(state, remoting, group)
    on_member_left(state, group, now_ms)


def on_member_left(state: BrokerState, group: ConsumerGroup, now_ms: int) -> None:
    """Mark the filters of a group without members as dead."""
    if not group.members:
        state.filters.leave(group.name, now_ms)


def notify_consumer_ids_changed(
    state: BrokerState, remoting: RemotingServer, group: ConsumerGroup, now_ms: int
) -> None:
    """Notify all members, unless the group has disabled that."""
    config = state.groups.find(group.name, now_ms)
    # [GROUP-MEMBER-014]
    if config is None or config.notifies_consumer_ids_changed:
        _notify_members(state, remoting, group)


def _notify_members(
    state: BrokerState, remoting: RemotingServer, group: ConsumerGroup
) -> None:
    """Send NOTIFY_CONSUMER_IDS_CHANGED to all members, unless that is disabled."""
    if not state.options.notify_consumer_ids_changed_enable:
        return
    code = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
    fields = {"consumerGroup": group.name}
    for connection in group.members:  # [GROUP-MEMBER-003]
        remoting.invoke_oneway(connection, code, fields)


def _enumerator(consumer: JsonObject, member: str) -> str | None:
    """Return the name of an enumeration's value, as fastjson reads it.

    Some clients write ordinals. An absent value, or an unknown name, is Java's null.
    """
    names, value = _ENUMERATIONS[member], consumer.get(member)
    if type(value) is int and 0 <= value < len(names):  # [GROUP-HEARTBEAT-005]
        return names[value]
    if value is None or isinstance(value, str):  # [GROUP-HEARTBEAT-006]
        return str(value) if value in names else None
    raise Refused(SYSTEM_ERROR, f"{member} has no value {value!r}")


def _subscription(members: JsonObject) -> Subscription:
    members = {"subVersion": 0, **members}
    return subscription_of(body_from_json(SubscriptionData, members))
