"""
Creating, changing, deleting and listing topics, mostly for tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.broker.topics import Topic
from reference.core.request import Request
from spec.wire import fastjson
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker


def update_topic(broker: Broker, request: Request) -> Answer:
    """Create a topic or change it."""
    name = request.text("topic")
    if name == broker.options.cluster:  # [ADMIN-TOPIC-003]
        remark = f"the topic[{name}] is conflict with system reserved words."
        return refusal(SYSTEM_ERROR, remark)
    topic = Topic(
        name,
        request.int32("readQueueNums"),
        request.int32("writeQueueNums"),
        request.int32("perm"),
        request.optional_text("topicFilterType") or "SINGLE_TAG",
        request.optional_int32("topicSysFlag"),
    )
    broker.topics.update(topic, request.now_ms)  # [ADMIN-TOPIC-001] [ADMIN-TOPIC-002]
    return Answer()


def delete_topic(broker: Broker, request: Request) -> Answer:
    """Forget a topic, and the queues of every topic that is not configured."""
    # [ADMIN-TOPIC-004] [ROUTE-BROKER-011]
    broker.topics.delete(request.text("topic"), request.now_ms)
    broker.delete_unknown_topics()
    return Answer()


def delete_unused_topics(broker: Broker, _: Request) -> Answer:
    """Delete the queues of topics that are not configured."""
    broker.delete_unknown_topics()  # [ADMIN-TOPIC-007]
    return Answer()


def all_topic_configs(broker: Broker, _: Request) -> Answer:
    """Answer the whole table of topics."""
    return Answer(body=fastjson.dumps(broker.topics.as_json()))  # [ADMIN-TOPIC-005]


def system_topics(broker: Broker, _: Request) -> Answer:
    """List the topics that this broker has from the start."""
    names = sorted(broker.topics.system)  # [ADMIN-TOPIC-006]
    return Answer(body=fastjson.dumps({"topicList": names}))


def topic_stats(broker: Broker, request: Request) -> Answer:
    """Answer, for each queue of a topic, where it begins, ends, and when it grew."""
    name = request.text("topic")
    topic = broker.topics.get(name)
    if topic is None:
        return refusal(ResponseCode.TOPIC_NOT_EXIST, f"topic[{name}] not exist")
    table = {}
    for queue_id in range(topic.write_queue_count):
        end = max(broker.store.max_offset(name, queue_id), 0)
        grown_at_ms = broker.store.stored_at(name, queue_id, end - 1) if end else 0
        table[broker.queue_key(name, queue_id)] = {  # [ADMIN-STATS-001]
            "lastUpdateTimestamp": grown_at_ms,
            "maxOffset": end,
            "minOffset": max(broker.store.min_offset(name, queue_id), 0),
        }
    return Answer(body=fastjson.dumps({"offsetTable": table}))


def groups_of_topic(broker: Broker, request: Request) -> Answer:
    """List the groups that consume a topic, or ever did."""
    topic = request.text("topic")
    groups = dict.fromkeys(broker.clients.groups_subscribed_to(topic))
    groups |= dict.fromkeys(broker.offsets.groups_of(topic))  # [ADMIN-STATS-004]
    return Answer(body=fastjson.dumps({"groupList": list(groups)}))
