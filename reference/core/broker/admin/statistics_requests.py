"""
Requests of tools for statistics and for the lag of groups.
"""

from __future__ import annotations

from reference.core.broker.admin.broker_statistics import PERIODS
from reference.core.broker.group.group_requests import may_consume, progress
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import queue_key
from reference.core.remoting.refused import Refused
from reference.core.remoting.request import Request
from reference.core.remoting.response import SYSTEM_ERROR, Response
from spec.wire.bodies import fastjson
from spec.wire.remoting.response_code import ResponseCode


def view_statistics(state: BrokerState, request: Request) -> Response:
    """Respond with a count by its name and key."""
    name, key = request.text("statsName"), request.text("statsKey")
    count = state.statistics.count(name, key)
    if count is None:  # [ADMIN-STATS-006]
        raise Refused(SYSTEM_ERROR, f"The stats <{name}> <{key}> not exist")
    rates = {
        f"stats{period.title()}": count.rate(period).as_json() for period in PERIODS
    }
    return Response(body=fastjson.dumps(rates))  # [ADMIN-STATS-005]


def consume_time_spans(state: BrokerState, request: Request) -> Response:
    """Respond with store times and the progress of a group, by queue."""
    name, group = request.text("topic"), request.text("group")
    topic = state.topics.get(name)
    if topic is None:  # [ADMIN-STATS-008]
        raise Refused(ResponseCode.TOPIC_NOT_EXIST, f"topic[{name}] not exist")
    spans = [
        _time_span(state, group, name, queue_id, now_ms=request.now_ms)
        for queue_id in range(topic.write_queue_count)
    ]
    # [ADMIN-STATS-007]
    return Response(body=fastjson.dumps({"consumeTimeSpanSet": spans}))


def _time_span(
    state: BrokerState, group: str, topic: str, queue_id: int, *, now_ms: int
) -> dict[str, object]:
    store = state.store
    end = store.max_offset(topic, queue_id)
    consumed = state.offsets.query(group, topic, queue_id)
    first_ms = consumed_ms = store.earliest_stored_at(topic, queue_id)
    if consumed > 0:
        consumed_ms = store.stored_at(topic, queue_id, consumed - 1)
    delay_ms = 0
    if consumed < end:
        delay_ms = now_ms - store.stored_at(topic, queue_id, consumed)
    return {
        "consumeTimeStamp": consumed_ms,
        "delayTime": delay_ms,
        "maxTimeStamp": store.stored_at(topic, queue_id, end - 1),
        "messageQueue": dict(queue_key(state.options.broker_name, topic, queue_id)),
        "minTimeStamp": first_ms,
    }


def all_consume_stats(state: BrokerState, request: Request) -> Response:
    """Respond with the progress of every group in every topic."""
    only_ordered = request.truth("isOrder")
    left = 0
    rows = []
    for group in state.groups.table:
        stats = []
        for name in state.offsets.topics_of(group):
            topic = state.topics.get(name)
            if topic is None or not may_consume(state, group, name):
                continue
            if only_ordered and not topic.is_ordered:
                continue
            table = {
                queue_key(state.options.broker_name, name, queue_id): progress(
                    state, group, name, queue_id
                )
                for queue_id in range(topic.write_queue_count)
            }
            left += sum(one.left for one in table.values())
            rate = state.statistics.pulled_per_second(group, name)
            shown = {key: one.as_json() for key, one in table.items()}
            stats.append({"consumeTps": rate, "offsetTable": shown})
        rows.append({group: stats})
    body = {
        "brokerAddr": state.options.address,
        "consumeStatsList": rows,
        "totalDiff": left,
    }
    return Response(body=fastjson.dumps(body))  # [ADMIN-STATS-009]


def smallest_offsets(state: BrokerState, request: Request) -> Response:
    """Respond with the smallest committed offset of each queue of a topic.

    As in 4.6.0, all offsets of the groups in filterGroups are deleted, and compareGroup
    has no effect.
    """
    topic = request.text("topic")
    for group in (request.optional_text("filterGroups") or "").split(","):
        if group:
            state.offsets.forget(group)  # [OFFSET-CORRECTION-002]
    smallest: dict[int, int] = {}
    for group in state.offsets.groups_of(topic):
        for queue_id, offset in state.offsets.of(group, topic).items():
            if offset >= state.store.min_offset(topic, queue_id):
                known = smallest.get(queue_id, offset)
                smallest[queue_id] = min(known, offset)  # [OFFSET-CORRECTION-001]
    return Response(body=fastjson.dumps({"correctionOffsets": smallest}))
