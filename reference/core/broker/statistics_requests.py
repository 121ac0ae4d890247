"""
What tools ask about traffic, and about how far behind groups are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.broker.group_requests import may_consume, progress
from reference.core.broker.traffic import PERIODS
from reference.core.request import Request
from spec.wire import fastjson
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker


def traffic(broker: Broker, request: Request) -> Answer:
    """Answer what was counted under a name and a key."""
    name, key = request.text("statsName"), request.text("statsKey")
    count = broker.traffic.count(name, key)
    if count is None:  # [ADMIN-STATS-006]
        return refusal(SYSTEM_ERROR, f"The stats <{name}> <{key}> not exist")
    rates = {
        f"stats{period.title()}": count.rate(period).as_json() for period in PERIODS
    }
    return Answer(body=fastjson.dumps(rates))  # [ADMIN-STATS-005]


def consume_time_spans(broker: Broker, request: Request) -> Answer:
    """Answer, by queue, when its messages were stored and how far a group is."""
    name, group = request.text("topic"), request.text("group")
    topic = broker.topics.get(name)
    if topic is None:  # [ADMIN-STATS-008]
        return refusal(ResponseCode.TOPIC_NOT_EXIST, f"topic[{name}] not exist")
    spans = [
        _time_span(broker, group, name, queue_id, now_ms=request.now_ms)
        for queue_id in range(topic.write_queue_count)
    ]
    # [ADMIN-STATS-007]
    return Answer(body=fastjson.dumps({"consumeTimeSpanSet": spans}))


def _time_span(
    broker: Broker, group: str, topic: str, queue_id: int, *, now_ms: int
) -> dict[str, object]:
    store = broker.store
    end = store.max_offset(topic, queue_id)
    consumed = broker.offsets.query(group, topic, queue_id)
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
        "messageQueue": {
            "brokerName": broker.options.name,
            "queueId": queue_id,
            "topic": topic,
        },
        "minTimeStamp": first_ms,
    }


def all_consume_stats(broker: Broker, request: Request) -> Answer:
    """Answer how far every group is in every topic that it has read of."""
    only_ordered = request.truth("isOrder")
    left = 0
    rows = []
    for group in broker.groups.table:
        stats = []
        for name in broker.offsets.topics_of(group):
            topic = broker.topics.get(name)
            if topic is None or not may_consume(broker, group, name):
                continue
            if only_ordered and not topic.is_ordered:
                continue
            table = {
                broker.queue_key(name, queue_id): progress(
                    broker, group, name, queue_id
                )
                for queue_id in range(topic.write_queue_count)
            }
            left += sum(one.left for one in table.values())
            rate = broker.traffic.got_per_second(group, name)
            shown = {key: one.as_json() for key, one in table.items()}
            stats.append({"consumeTps": rate, "offsetTable": shown})
        rows.append({group: stats})
    body = {
        "brokerAddr": broker.options.address,
        "consumeStatsList": rows,
        "totalDiff": left,
    }
    return Answer(body=fastjson.dumps(body))  # [ADMIN-STATS-009]


def smallest_offsets(broker: Broker, request: Request) -> Answer:
    """Answer, by queue of a topic, the smallest offset that a group has committed.

    What the groups in filterGroups have committed is forgotten, of all topics, as in
    4.6.0; that compareGroup is to make a difference comes to nothing there.
    """
    topic = request.text("topic")
    for group in (request.optional_text("filterGroups") or "").split(","):
        if group:
            broker.offsets.forget(group)  # [OFFSET-CORRECTION-002]
    smallest: dict[int, int] = {}
    for group in broker.offsets.groups_of(topic):
        for queue_id, offset in broker.offsets.of(group, topic).items():
            if offset >= broker.store.min_offset(topic, queue_id):
                known = smallest.get(queue_id, offset)
                smallest[queue_id] = min(known, offset)  # [OFFSET-CORRECTION-001]
    return Answer(body=fastjson.dumps({"correctionOffsets": smallest}))
