"""
Requests that create, change, delete and list topics.
"""

from __future__ import annotations

from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import (
    TOPIC_FILTER_TYPES,
    Topic,
    check_shown_queues,
)
from reference.core.broker.transaction.check import correct_check_offsets
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response, json_response
from spec.wire.bodies.offset_tables import TopicOffset, TopicStatsTable
from spec.wire.remoting.response_code import ResponseCode


def update_topic(state: BrokerState, request: Request) -> Response:
    """Create or change a topic (UPDATE_AND_CREATE_TOPIC)."""
    name = request.text("topic")
    if name == state.options.broker_cluster_name:  # [ADMIN-TOPIC-003]
        remark = f"the topic[{name}] is conflict with system reserved words."
        raise Refused(SYSTEM_ERROR, remark)
    kind = request.text_or_null("topicFilterType")
    if kind not in TOPIC_FILTER_TYPES:  # [ADMIN-TOPIC-010]
        raise Refused(SYSTEM_ERROR, f"topicFilterType = [{kind}] value invalid")
    topic = Topic(
        name,
        read_queue_count=request.int32("readQueueNums"),
        write_queue_count=request.int32("writeQueueNums"),
        permission=request.int32("perm"),
        filter_type=kind,
        flag=request.optional_int32("topicSysFlag"),
    )
    # [ADMIN-TOPIC-001] [ADMIN-TOPIC-002] [ROUTE-BROKER-008] [ROUTE-BROKER-009]
    state.topics.put(topic, request.now_ms, changed=topic)
    return Response()


def delete_topic(state: BrokerState, request: Request) -> Response:
    """Delete a topic, and the queues of all topics that are not configured."""
    # [ADMIN-TOPIC-004] [ROUTE-BROKER-011]
    state.topics.delete(request.text("topic"), request.now_ms)
    return delete_unused_topics(state, request)


def delete_unused_topics(state: BrokerState, _: Request) -> Response:
    """Delete the queues of topics that are not configured."""
    # [ADMIN-TOPIC-007]
    state.store.clean_service.delete_unused_topics(state.topics.table.keys())
    # [TXN-CHECK-025] The queue of op messages is one of them.
    correct_check_offsets(state)
    return Response()


def delete_expired_queues(state: BrokerState, _: Request) -> Response:
    """Delete the consume queues without messages (CLEAN_EXPIRED_CONSUMEQUEUE)."""
    state.store.clean_service.delete_expired_queues()
    correct_check_offsets(state)
    return Response()


def system_topics(state: BrokerState, _: Request) -> Response:
    """Respond with the names of the system topics."""
    names = sorted(state.topics.system)  # [ADMIN-TOPIC-006]
    return json_response({"topicList": names})


def topic_stats(state: BrokerState, request: Request) -> Response:
    """Respond with both ends and the last store time of a topic's queues."""
    name = request.text("topic")
    topic = state.topics.table.get(name)
    if topic is None:
        raise Refused(ResponseCode.TOPIC_NOT_EXIST, f"topic[{name}] not exist")
    check_shown_queues(topic.write_queue_count)
    table = {}
    for queue_id in range(topic.write_queue_count):
        end = max(state.store.max_offset(name, queue_id), 0)
        grown_at_ms = state.store.stored_at(name, queue_id, end - 1) if end else 0
        table[state.queue_name(name, queue_id)] = TopicOffset(  # [ADMIN-STATS-001]
            min_offset=max(state.store.min_offset(name, queue_id), 0),
            max_offset=end,
            updated_at_ms=grown_at_ms,
        )
    return json_response(TopicStatsTable(queues=table))


def groups_of_topic(state: BrokerState, request: Request) -> Response:
    """Respond with the groups that subscribe to a topic or have offsets in it."""
    topic = request.text("topic")
    groups = dict.fromkeys(state.clients.groups_subscribed_to(topic))
    groups |= dict.fromkeys(state.offsets.groups_of(topic))  # [ADMIN-STATS-004]
    return json_response({"groupList": list(groups)})
