"""
Features of Java's admin tools: a small program for each.

The adapter protocol (docs/client_adapter.md) is about clients and has no verbs for
tools, so these programs call DefaultMQAdminExt, the class behind mqadmin, through py4j.
Their producers and consumers are the adapter's, as in every other feature.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError

from conformance.harness.targets.client_adapter import Line
from conformance.interop.programs.session import HEARTBEAT_MS, ClientSession
from spec.clause import release_key

HOUR_MS = 3_600_000
TIMEOUT_MS = 10_000
PARTS: Line = {"tags": "A", "keys": "one two", "properties": {"own": "v"}}


@dataclass(slots=True, kw_only=True)
class JavaTools:
    """DefaultMQAdminExt of one release, beside the adapter's session."""

    gateway: Any
    session: ClientSession
    release: str
    _admin: Any = None

    @property
    def mq(self) -> Any:
        """Java package org.apache.rocketmq."""
        return self.gateway.jvm.org.apache.rocketmq

    @property
    def admin(self) -> Any:
        """DefaultMQAdminExt, started at first use."""
        if self._admin is None:
            admin = self.mq.tools.admin.DefaultMQAdminExt()
            admin.setAdminExtGroup(self.session.name("tools"))
            admin.setNamesrvAddr(str(self.session.target.namesrv))
            admin.setInstanceName(self.session.name("client"))
            admin.setHeartbeatBrokerInterval(HEARTBEAT_MS)
            admin.setPollNameServerInterval(HEARTBEAT_MS)
            admin.start()
            self._admin = admin
        return self._admin

    @property
    def subscription(self) -> Any:
        """Java package of SubscriptionGroupConfig, which moved in 5.0."""
        is_new = release_key(self.release) >= (5,)
        return (self.mq.remoting.protocol if is_new else self.mq.common).subscription

    def names(self, *given: str) -> Any:
        """Return a java.util.HashSet of names."""
        names = self.gateway.jvm.java.util.HashSet()
        for name in given:
            names.add(name)
        return names

    def settled(self, query: Callable[[], str], expected: str) -> str:
        """Return *expected* once *query* returns it, else the last result."""
        results: list[str] = []

        def is_settled() -> bool:
            results.append(query())
            return results[-1] == expected or "Exception" in results[-1]

        self.session.wait(is_settled, f"the result is {expected}")
        return results[-1]

    def close(self) -> None:
        """Shut down the tools."""
        if self._admin is not None:
            self._admin.shutdown()


def attempt(act: Callable[[], Any]) -> str:
    """Return the result of *act*, or the class of its exception and the code in it."""
    try:
        return str(act())
    except Py4JJavaError as error:
        return failure(error.java_exception)


def failure(error: Any) -> str:
    """Return the class of a Java exception, and the response code if it has one."""
    kind = str(error.getClass().getSimpleName())
    if kind in {"MQBrokerException", "MQClientException"}:
        return f"{kind} {error.getResponseCode()}"
    return kind


def text(message: Any) -> str:
    """Return the body of a Java message as text."""
    return bytes(message.getBody()).decode()


def row(message: Any) -> list[str | None]:
    """Return body, tag, keys and the property *own* of a Java message."""
    own = message.getUserProperty("own")
    return [text(message), message.getTags(), message.getKeys(), own]


def _sent(tools: JavaTools) -> tuple[str, Line]:
    """Send two messages; return their topic and the result for the second."""
    session = tools.session
    topic, producer = session.topic(), session.producer()
    session.send(producer, topic, "another", keys="other")
    return topic, session.send(producer, topic, "wanted", **PARTS)


def by_id(tools: JavaTools) -> object:
    topic, sent = _sent(tools)
    return [row(tools.admin.viewMessage(topic, sent["offset_message_id"]))]


def by_key(tools: JavaTools) -> object:
    topic, _ = _sent(tools)
    found = {key: _by_key(tools, topic, key) for key in ("one", "two")}
    return {**found, "three": attempt(lambda: _query(tools, topic, "three"))}


def _by_key(tools: JavaTools, topic: str, key: str) -> list[str]:
    found: list[str] = []

    def is_found() -> bool:
        attempt(lambda: found.extend(map(text, _query(tools, topic, key))))
        return bool(found)

    tools.session.wait(is_found, f"{key} is found")
    return sorted(found)


def _query(tools: JavaTools, topic: str, key: str) -> Any:
    now = time.time_ns() // 1_000_000
    begin, end = now - HOUR_MS, now + HOUR_MS
    return tools.admin.queryMessage(topic, key, 32, begin, end).getMessageList()


def by_unique_key(tools: JavaTools) -> object:
    topic, sent = _sent(tools)
    found: list[list[str | None]] = []

    def is_found() -> bool:
        view = tools.admin.viewMessage
        attempt(lambda: found.append(row(view(topic, sent["message_id"]))))
        return bool(found)

    tools.session.wait(is_found, "the message is found")
    return found


def topics(tools: JavaTools) -> object:
    admin, name = tools.admin, tools.session.name("made")
    address = str(tools.session.target.broker)
    make = tools.mq.common.TopicConfig
    counts = []
    for count in (3, 5):
        admin.createAndUpdateTopicConfig(address, make(name, count, count, 6))
        counts.append(tools.settled(lambda: str(_count(admin, name)), str(count)))
    listed = name in set(admin.fetchAllTopicList().getTopicList())
    admin.deleteTopicInBroker(tools.names(address), name)
    namesrv = tools.names(str(tools.session.target.namesrv))
    if tools.release.startswith("4.9."):
        admin.deleteTopicInNameServer(namesrv, name, tools.session.target.cluster)
    else:
        admin.deleteTopicInNameServer(namesrv, name)
    gone = attempt(lambda: admin.examineTopicRouteInfo(name))
    return {"queues": counts, "listed": listed, "deleted": gone}


def _count(admin: Any, topic: str) -> int:
    """Return the number of queues in the route; 0 while the topic does not exist."""
    counts: list[int] = []

    def count() -> int:
        route = admin.examineTopicRouteInfo(topic)
        counts.extend(one.getReadQueueNums() for one in route.getQueueDatas())
        return len(counts)

    attempt(count)
    return sum(counts)


def groups(tools: JavaTools) -> object:
    admin, name = tools.admin, tools.session.name("group")
    address = str(tools.session.target.broker)
    settings = tools.subscription.SubscriptionGroupConfig()
    settings.setGroupName(name)
    settings.setRetryMaxTimes(3)
    admin.createAndUpdateSubscriptionGroupConfig(address, settings)
    listed = admin.getAllSubscriptionGroup(address, TIMEOUT_MS)
    session = tools.session
    consumer = session.push_consumer(session.topic(), group=name)
    session.wait(lambda: _members(admin, name) == 1, "the group has one member")
    members = _members(admin, name)
    session.stop(consumer)
    session.wait(lambda: _members(admin, name) == 0, "the group is empty")
    admin.deleteSubscriptionGroup(address, name)
    left = admin.getAllSubscriptionGroup(address, TIMEOUT_MS)
    return {
        "retries": listed.getSubscriptionGroupTable()[name].getRetryMaxTimes(),
        "members": members,
        "deleted": name not in left.getSubscriptionGroupTable(),
    }


def _members(admin: Any, group: str) -> int:
    """Return the number of connected consumers of a group."""
    counts: list[int] = []

    def count() -> None:
        connections = admin.examineConsumerConnectionInfo(group).getConnectionSet()
        counts.append(connections.size())

    attempt(count)
    return sum(counts)


def statistics(tools: JavaTools) -> object:
    session, admin = tools.session, tools.admin
    topic, producer = session.topic(queue_count=3), session.producer()
    group = session.name("s")
    session.send(producer, topic, "consumed", more={"select": 0})
    consumer = session.push_consumer(topic, group=group)
    session.wait(
        lambda: session.committed(group, topic, 1) == [1], "the message is committed"
    )
    session.stop(consumer)
    for n in range(2):
        session.send(producer, topic, f"{n}", more={"select": 0})
    lag = tools.settled(
        lambda: attempt(lambda: admin.examineConsumeStats(group).computeTotalDiff()),
        "2",
    )
    queues = attempt(lambda: admin.examineTopicStats(topic).getOffsetTable().size())
    return {"queues": queues, "behind by": lag}


def cluster(tools: JavaTools) -> object:
    admin, address = tools.admin, str(tools.session.target.broker)
    info = admin.examineBrokerClusterInfo()
    changes = tools.gateway.jvm.java.util.Properties()
    changes.setProperty("slaveReadEnable", "true")
    admin.updateBrokerConfig(address, changes)
    settings = admin.getBrokerConfig(address)
    stats = admin.fetchBrokerRuntimeStats(address).getTable()
    return {
        "clusters": list(info.getClusterAddrTable()),
        "brokers": list(info.getBrokerAddrTable()),
        "setting": settings.getProperty("slaveReadEnable"),
        "statistics": [name in stats for name in ("putTps", "bootTimestamp")],
    }


STEPS: Mapping[str, Callable[[JavaTools], object]] = {
    "query by id": by_id,
    "query by key": by_key,
    "query by unique key": by_unique_key,
    "topics": topics,
    "groups": groups,
    "statistics": statistics,
    "cluster": cluster,
}
"""Features of tools, by name; clients of other languages do not offer them."""
