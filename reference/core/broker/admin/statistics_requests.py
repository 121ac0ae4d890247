"""
Requests of tools for statistics and for the lag of groups.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reference.core.broker.admin.broker_statistics import SAMPLE_MS
from reference.core.broker.group.group_requests import may_consume, progress
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import check_shown_queues
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response, json_response
from spec.wire.bodies.admin_bodies import (
    ConsumeStatsList,
    QueryConsumeTimeSpanBody,
    QueueTimeSpan,
)
from spec.wire.bodies.offset_tables import ConsumeStats
from spec.wire.remoting.response_code import ResponseCode


def view_statistics(state: BrokerState, request: Request) -> Response:
    """Respond with a count by its name and key."""
    name, key = request.text("statsName"), request.text("statsKey")
    count = state.statistics.count(name, key)
    if count is None:  # [ADMIN-STATS-006]
        raise Refused(SYSTEM_ERROR, f"The stats <{name}> <{key}> not exist")
    rates = {
        f"stats{period.title()}": count.rate(period).as_json() for period in SAMPLE_MS
    }
    return json_response(rates)  # [ADMIN-STATS-005]


def consume_time_spans(state: BrokerState, request: Request) -> Response:
    """Respond with store times and the progress of a group, by queue."""
    name, store = request.text("topic"), state.store
    group = request.text_or_null("group")
    topic = state.topics.table.get(name)
    if topic is None:  # [ADMIN-STATS-008]
        raise Refused(ResponseCode.TOPIC_NOT_EXIST, f"topic[{name}] not exist")
    check_shown_queues(topic.write_queue_count)
    spans = []
    for queue_id in range(topic.write_queue_count):
        end = store.max_offset(name, queue_id)
        consumed = state.offsets.query(group, name, queue_id)
        first_ms = consumed_ms = store.earliest_stored_at(name, queue_id)
        if consumed > 0:
            consumed_ms = store.stored_at(name, queue_id, consumed - 1)
        delay_ms = 0
        if consumed < end:
            delay_ms = request.now_ms - store.stored_at(name, queue_id, consumed)
        last_ms = store.stored_at(name, queue_id, end - 1)
        span = QueueTimeSpan(
            queue=state.queue_name(name, queue_id),
            first_stored_at_ms=first_ms,
            last_stored_at_ms=last_ms,
            consumed_at_ms=consumed_ms,
            delay_ms=delay_ms,
            # [ADMIN-STATS-012]
            first_stored_at=_local_time(first_ms),
            last_stored_at=_local_time(last_ms),
            consumed_at=_local_time(consumed_ms),
        )
        spans.append(span)
    # [ADMIN-STATS-007]
    return json_response(QueryConsumeTimeSpanBody(queues=tuple(spans)))


def _local_time(at_ms: int) -> str:
    """Return a time as Java's UtilAll.YYYY_MM_DD_HH_MM_SS_SSS."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
    return f"{at.astimezone():%Y-%m-%d#%H:%M:%S}:{at.microsecond // 1000:03}"


def all_consume_stats(state: BrokerState, request: Request) -> Response:
    """Respond with the progress of every group in every topic."""
    only_ordered = request.truth("isOrder")
    left = queue_count = 0
    rows = []
    for group in state.groups.table:
        stats = []
        for name in state.offsets.topics_of(group):
            topic = state.topics.table.get(name)
            if topic is None or not may_consume(state, group, name):
                continue
            if only_ordered and not topic.is_ordered:
                continue
            queue_count += topic.write_queue_count
            check_shown_queues(queue_count)
            table = progress(state, group, name, topic.write_queue_count)
            left += sum(q.broker_offset - q.consumer_offset for q in table.values())
            rate = state.statistics.pulled_per_second(group, name)
            stats.append(ConsumeStats(consume_tps=rate, queues=table))
        rows.append({group: tuple(stats)})
    address = state.options.address
    body = ConsumeStatsList(groups=tuple(rows), broker_address=address, behind=left)
    return json_response(body)  # [ADMIN-STATS-009]


def smallest_offsets(state: BrokerState, request: Request) -> Response:
    """Respond with the smallest committed offset of each queue of a topic.

    As in 4.6.0, all offsets of the groups in filterGroups are deleted, and compareGroup
    has no effect.
    """
    topic = request.text("topic")
    for group in (request.optional_text("filterGroups") or "").split(","):
        if group:
            state.offsets.remove_group(group)  # [OFFSET-CORRECTION-002]
    smallest: dict[int, int] = {}
    for group in state.offsets.groups_of(topic):
        for queue_id, offset in state.offsets.of(group, topic).items():
            if offset >= state.store.min_offset(topic, queue_id):
                known = smallest.get(queue_id, offset)
                smallest[queue_id] = min(known, offset)  # [OFFSET-CORRECTION-001]
    return json_response({"correctionOffsets": smallest})
