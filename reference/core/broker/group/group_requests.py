"""
Requests about consumer groups: configuration, connections, progress, queue locks.
"""

from __future__ import annotations

from collections.abc import Iterable

from reference.core.broker.group.clients import Client
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import check_shown_queues
from reference.core.remoting.request import FieldError, Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response, json_response
from spec.wire.bodies import fastjson
from spec.wire.bodies.heartbeat import (
    Connection,
    ConsumerConnection,
    ProducerConnection,
)
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.offset_tables import ConsumeStats, OffsetWrapper
from spec.wire.bodies.queue_name import QueueName
from spec.wire.consumer.queue_locks import LockBatchRequestBody, LockBatchResponseBody
from spec.wire.remoting.response_code import ResponseCode


def update_group(state: BrokerState, request: Request) -> Response:
    """Create or change the configuration of a group."""
    value = fastjson.loads(request.body)
    if isinstance(value, dict):
        if value.get("groupName") is None:
            raise FieldError("groupName")
        group = state.groups.row_of(value)
        state.groups.put(group, request.now_ms)  # [ADMIN-GROUP-001]
    return Response()


def delete_group(state: BrokerState, request: Request) -> Response:
    """Delete the configuration of a group."""
    state.groups.delete(request.text("groupName"), request.now_ms)
    return Response()


def consumer_connections(state: BrokerState, request: Request) -> Response:
    """Respond with the members and subscriptions of a consumer group."""
    name = request.text("consumerGroup")
    group = state.clients.consumers.get(name)
    if group is None:
        raise Refused(
            # [GROUP-CONNECTION-002]
            ResponseCode.CONSUMER_NOT_ONLINE,
            f"the consumer group[{name}] not online",
        )
    body = ConsumerConnection(  # [GROUP-CONNECTION-001] [GROUP-CONNECTION-005]
        connections=_connections(state, group.members.values()),
        consume_from=group.consume_from,
        consume_type=group.consume_type,
        message_model=group.message_model,
        subscriptions={key: one.data for key, one in group.subscriptions.items()},
    )
    return json_response(body)


def producer_connections(state: BrokerState, request: Request) -> Response:
    """Respond with the members of a producer group."""
    name = request.text("producerGroup")
    members = state.clients.producers.get(name)
    if members is None:  # [GROUP-CONNECTION-004]
        raise Refused(SYSTEM_ERROR, f"the producer group[{name}] not exist")
    # [GROUP-CONNECTION-003]
    body = ProducerConnection(connections=_connections(state, members.values()))
    return json_response(body)


def consume_stats(state: BrokerState, request: Request) -> Response:
    """Respond with the progress of a group in each queue."""
    group = request.text("consumerGroup")
    only = (request.optional_text("topic") or "").strip()
    topics = [only] if only else state.offsets.topics_of(group)
    table: dict[QueueName, OffsetWrapper] = {}
    rate = 0.0
    for name in topics:
        topic = state.topics.table.get(name)
        if topic is not None and may_consume(state, group, name):
            count = topic.read_queue_count
            check_shown_queues(len(table) + count)
            table |= progress(state, group, name, count)  # [ADMIN-STATS-002]
            rate += state.statistics.pulled_per_second(group, name)
    return json_response(ConsumeStats(consume_tps=rate, queues=table))


def clone_offsets(state: BrokerState, request: Request) -> Response:
    """Copy the offsets of one group to another."""
    source, target = request.text("srcGroup"), request.text_or_null("destGroup")
    topic = (request.optional_text("topic") or "").strip()
    # [OFFSET-CLONE-002]
    if state.topics.table.get(topic) is not None and (
        # [OFFSET-CLONE-003]
        request.truth("offline") or may_consume(state, source, topic)
    ):
        state.offsets.clone(source, target, topic)  # [OFFSET-CLONE-001]
    return Response()


def lock_batch_mq(state: BrokerState, request: Request) -> Response:
    """Lock queues; respond with those that the client has locked."""
    body = decode_body(LockBatchRequestBody, request.body)
    locked = tuple(
        queue
        for queue in dict.fromkeys(body.queues)  # [GROUP-LOCK-008]
        if state.locks.lock(body.group, queue, body.client_id, now_ms=request.now_ms)
    )
    # [GROUP-LOCK-007]
    return json_response(LockBatchResponseBody(queues=locked))


def unlock_batch_mq(state: BrokerState, request: Request) -> Response:
    """Unlock queues of a client."""
    body = decode_body(LockBatchRequestBody, request.body)
    for queue in body.queues:
        state.locks.unlock(body.group, queue, body.client_id)
    return Response()


def may_consume(state: BrokerState, group: str, topic: str) -> bool:
    """Return whether the group, if it has members, subscribes to the topic."""
    members = state.clients.consumers.get(group)
    if members is None or not members.subscriptions:
        return True
    return topic in members.subscriptions  # [ADMIN-STATS-011]


def progress(
    state: BrokerState, group: str, topic: str, queue_count: int
) -> dict[QueueName, OffsetWrapper]:
    """Return the progress of *group* in the queues of a topic."""
    table = {}
    for queue_id in range(queue_count):
        consumed = max(state.offsets.query(group, topic, queue_id), 0)
        at_ms = state.store.stored_at(topic, queue_id, consumed - 1) if consumed else 0
        table[state.queue_name(topic, queue_id)] = OffsetWrapper(
            broker_offset=max(state.store.max_offset(topic, queue_id), 0),
            consumer_offset=consumed,
            last_stored_at_ms=max(at_ms, 0),
        )
    return table


def _connections(
    state: BrokerState, clients: Iterable[Client]
) -> tuple[Connection, ...]:
    return tuple(
        Connection(
            client_address=str(state.connections[client.connection].remote),
            client_id=client.client_id,
            language=client.language,
            version=client.version,
        )
        for client in clients
    )
