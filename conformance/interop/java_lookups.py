"""
The features of the Java clients that are questions and orders: each a small program.

Messages are found in four ways; offsets are set back; topics, groups and settings are
made, changed and deleted as mqadmin does it, by the class that mqadmin calls.
"""

from __future__ import annotations

from typing import Any

from conformance.interop.java_listeners import Received, received
from conformance.interop.java_sends import attempt, texts, whole
from conformance.interop.java_session import JavaSession, keep_all

HOUR_MS = 3_600_000
TIMEOUT_MS = 10_000


def _sent(java: JavaSession) -> tuple[str, Any]:
    topic, producer = java.topic(), java.producer()
    producer.send(java.message(topic, "another", keys="other"))
    message = java.message(topic, "wanted", tags="A", keys="one two", own="v")
    return topic, producer.send(message)


def by_id(java: JavaSession) -> object:
    topic, sent = _sent(java)
    return whole([received(java.admin().viewMessage(topic, sent.getOffsetMsgId()))])


def by_key(java: JavaSession) -> object:
    topic, _ = _sent(java)
    admin = java.admin()
    found = {key: _by_key(java, admin, topic, key) for key in ("one", "two")}
    missing = attempt(lambda: _query(java, admin, topic, "three"))
    return {**found, "three": missing}


def _by_key(java: JavaSession, admin: Any, topic: str, key: str) -> list[str]:
    found: list[Received] = []

    def ask() -> bool:
        attempt(lambda: found.extend(map(received, _query(java, admin, topic, key))))
        return bool(found)

    java.wait(ask, f"{key} is found")
    return texts(found)


def _query(java: JavaSession, admin: Any, topic: str, key: str) -> Any:
    now = java.gateway.jvm.java.lang.System.currentTimeMillis()
    end = now + HOUR_MS
    return admin.queryMessage(topic, key, 32, now - HOUR_MS, end).getMessageList()


def by_unique_key(java: JavaSession) -> object:
    topic, sent = _sent(java)
    admin = java.admin()
    found: list[Received] = []

    def ask() -> bool:
        view = admin.viewMessage
        attempt(lambda: found.append(received(view(topic, sent.getMsgId()))))
        return bool(found)

    java.wait(ask, "it is found")
    return whole(found)


def by_offset(java: JavaSession) -> object:
    _topic, sent = _sent(java)
    make = java.mq.client.consumer.DefaultMQPullConsumer
    consumer = java.started(java.named(make(java.name("looking"))))
    queue, offset = sent.getMessageQueue(), sent.getQueueOffset()
    java.wait(lambda: consumer.maxOffset(queue) > offset, "it is in its queue")
    pulled = consumer.pull(queue, "*", offset, 1)
    return whole([received(one) for one in pulled.getMsgFoundList()])


def reset_offset(java: JavaSession) -> object:
    topic, producer, group = java.topic(queue_count=2), java.producer(), java.name("r")
    for n in range(4):
        producer.send(java.message(topic, f"{n}"), java.queue(topic, n % 2))
    got: list[Received] = []
    consumer = java.push_consumer(group)
    consumer.subscribe(topic, "*")
    java.listen(consumer, keep_all(got))
    java.wait(lambda: len(got) >= 4, "all have come")
    java.wait(
        lambda: java.committed(group, topic, (0, 1)) == [2, 2], "all is committed"
    )
    first = texts(got)
    got.clear()
    long_ago = java.gateway.jvm.java.lang.System.currentTimeMillis() - HOUR_MS
    offsets = java.admin().resetOffsetByTimestamp(topic, group, long_ago, True)
    java.wait(lambda: len(got) >= 4, "all have come again")
    return {
        "received": first,
        "set back to": sorted(offsets[queue] for queue in offsets),
        "again": sorted({one.text for one in got}),
    }


def topics(java: JavaSession) -> object:
    admin, name = java.admin(), java.name("made")
    address = str(java.target.broker)
    make = java.mq.common.TopicConfig
    counts = []
    for count in (3, 5):
        admin.createAndUpdateTopicConfig(address, make(name, count, count, 6))
        counts.append(java.settled(lambda: str(_count(admin, name)), str(count)))
    listed = name in set(admin.fetchAllTopicList().getTopicList())
    admin.deleteTopicInBroker(java.names(address), name)
    namesrv = java.names(str(java.target.namesrv))
    if java.release.startswith("4.9."):
        admin.deleteTopicInNameServer(namesrv, name, java.target.cluster)
    else:
        admin.deleteTopicInNameServer(namesrv, name)
    gone = attempt(lambda: admin.examineTopicRouteInfo(name))
    return {"queues": counts, "listed": listed, "deleted": gone}


def _count(admin: Any, topic: str) -> int:
    """Return how many queues are routed to; none while there is no such topic."""
    counts: list[int] = []

    def ask() -> int:
        route = admin.examineTopicRouteInfo(topic)
        counts.extend(one.getReadQueueNums() for one in route.getQueueDatas())
        return len(counts)

    attempt(ask)
    return sum(counts)


def groups(java: JavaSession) -> object:
    admin, name = java.admin(), java.name("group")
    address = str(java.target.broker)
    settings = java.subscription.SubscriptionGroupConfig()
    settings.setGroupName(name)
    settings.setRetryMaxTimes(3)
    admin.createAndUpdateSubscriptionGroupConfig(address, settings)
    listed = admin.getAllSubscriptionGroup(address, TIMEOUT_MS)
    consumer = java.push_consumer(name)
    consumer.subscribe(java.topic(), "*")
    java.listen(consumer, keep_all([]))
    java.wait(lambda: _members(admin, name) == 1, "there is a member")
    members = _members(admin, name)
    java.shut(consumer)
    java.wait(lambda: _members(admin, name) == 0, "the member has gone")
    admin.deleteSubscriptionGroup(address, name)
    left = admin.getAllSubscriptionGroup(address, TIMEOUT_MS)
    return {
        "retries": listed.getSubscriptionGroupTable()[name].getRetryMaxTimes(),
        "members": members,
        "deleted": name not in left.getSubscriptionGroupTable(),
    }


def _members(admin: Any, group: str) -> int:
    """Return how many consumers of a group are online."""
    counts: list[int] = []

    def ask() -> None:
        told = admin.examineConsumerConnectionInfo(group)
        counts.append(told.getConnectionSet().size())

    attempt(ask)
    return sum(counts)


def statistics(java: JavaSession) -> object:
    topic, producer, group = java.topic(queue_count=3), java.producer(), java.name("s")
    admin = java.admin()
    producer.send(java.message(topic, "consumed"), java.queue(topic))
    consumer = java.push_consumer(group)
    consumer.subscribe(topic, "*")
    java.listen(consumer, keep_all([]))
    java.wait(lambda: java.committed(group, topic, [0]) == [1], "it is committed")
    java.shut(consumer)
    for n in range(2):
        producer.send(java.message(topic, f"{n}"), java.queue(topic))
    lag = java.settled(
        lambda: attempt(lambda: admin.examineConsumeStats(group).computeTotalDiff()),
        "2",
    )
    queues = attempt(lambda: admin.examineTopicStats(topic).getOffsetTable().size())
    return {"queues": queues, "behind by": lag}


def cluster(java: JavaSession) -> object:
    admin, address = java.admin(), str(java.target.broker)
    told = admin.examineBrokerClusterInfo()
    changes = java.gateway.jvm.java.util.Properties()
    changes.setProperty("slaveReadEnable", "true")
    admin.updateBrokerConfig(address, changes)
    settings = admin.getBrokerConfig(address)
    stats = admin.fetchBrokerRuntimeStats(address).getTable()
    return {
        "clusters": list(told.getClusterAddrTable()),
        "brokers": list(told.getBrokerAddrTable()),
        "setting": settings.getProperty("slaveReadEnable"),
        "statistics": [name in stats for name in ("putTps", "bootTimestamp")],
    }
