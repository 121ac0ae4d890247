"""
The topics of a broker: how many queues each has, and who may do what with it.

Topics come into being by a tool's request, by the first message to them, or because
a consumer group needs its retry topic. The table is kept in ``topics.json``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reference.core.broker.options import BrokerOptions

PERM_READ = 4
PERM_WRITE = 2
PERM_INHERIT = 1
DEFAULT_TOPIC = "TBW102"
"""The topic after which unknown ones are made (Java: AUTO_CREATE_TOPIC_KEY_TOPIC)."""
RETRY_PREFIX = "%RETRY%"
DEAD_LETTER_PREFIX = "%DLQ%"
OFFSET_MOVED_TOPIC = "OFFSET_MOVED_EVENT"
UNIT_FLAG = 1
UNIT_SUBSCRIPTION_FLAG = 2
_HARMLESS = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00]+")


class TopicNameError(ValueError):
    """A topic may not be named so, because directories are named after topics."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic's configuration on this broker."""

    name: str
    read_queue_count: int = 16
    write_queue_count: int = 16
    permission: int = PERM_READ | PERM_WRITE
    filter_type: str = "SINGLE_TAG"
    flag: int = 0
    is_ordered: bool = False

    @property
    def has_many_tags(self) -> bool:
        """Whether a message may have more than one tag."""
        return self.filter_type == "MULTI_TAG"

    @property
    def queue_count(self) -> int:
        """Return how many queues a request may name."""
        return max(self.write_queue_count, self.read_queue_count)

    def as_json(self) -> dict[str, object]:
        """Return it as bodies and files spell it."""
        return {
            "order": self.is_ordered,
            "perm": self.permission,
            "readQueueNums": self.read_queue_count,
            "topicFilterType": self.filter_type,
            "topicName": self.name,
            "topicSysFlag": self.flag,  # [ROUTE-BROKER-010]
            "writeQueueNums": self.write_queue_count,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any], name: str) -> Topic:
        """Return the topic that *value* spells."""
        return cls(
            str(value.get("topicName") or name),
            int(value.get("readQueueNums", 16)),
            int(value.get("writeQueueNums", 16)),
            int(value.get("perm", 6)),
            str(value.get("topicFilterType", "SINGLE_TAG")),
            int(value.get("topicSysFlag", 0)),
            bool(value.get("order", False)),
        )

    def __str__(self) -> str:
        """Return it as 4.6.0 prints it in remarks."""
        letters = zip("RWX", (PERM_READ, PERM_WRITE, PERM_INHERIT), strict=True)
        perm = "".join(c if self.permission & bit else "-" for c, bit in letters)
        return (
            f"TopicConfig [topicName={self.name}, "
            f"readQueueNums={self.read_queue_count}, "
            f"writeQueueNums={self.write_queue_count}, perm={perm}, "
            f"topicFilterType={self.filter_type}, topicSysFlag={self.flag}, "
            f"order={str(self.is_ordered).lower()}]"
        )


class Topics:
    """The table of a broker's topics, and the version of that table."""

    def __init__(
        self,
        options: BrokerOptions,
        *,
        now_ms: int,
        changed: Callable[[Topic | None], None],
    ) -> None:
        self.table: dict[str, Topic] = {t.name: t for t in _system_topics(options)}
        self.system = frozenset(self.table)
        self.timestamp_ms = now_ms
        self.counter = 0
        self._changed = changed
        self._options = options

    def get(self, name: str) -> Topic | None:
        """Return the topic *name*, if there is one."""
        return self.table.get(name)

    def create_like(
        self, name: str, *, default: str, queue_count: int, flag: int, now_ms: int
    ) -> Topic | None:
        """Create a topic for a message to it, after *default*, if that may be."""
        model = self.table.get(default)  # [SEND-TOPIC-013]
        if model is None:
            return None
        creates = self._options.truth("autoCreateTopicEnable")
        if default == DEFAULT_TOPIC and not creates:  # [SEND-TOPIC-014]
            # It stays so, whatever the setting says later. [SEND-TOPIC-015]
            model = replace(model, permission=PERM_READ | PERM_WRITE)
            self.table[default] = model
        if not model.permission & PERM_INHERIT:
            return None
        count = max(min(queue_count, model.write_queue_count), 0)
        permission = model.permission & ~PERM_INHERIT
        topic = Topic(name, count, count, permission, model.filter_type, flag)
        return self._put(topic, now_ms)

    def create_once(
        self,
        name: str,
        *,
        queue_count: int,
        permission: int,
        now_ms: int,
        flag: int = 0,
    ) -> Topic:
        """Return the topic *name*, which is created if there is none."""
        known = self.table.get(name)
        if known is not None:
            return known
        topic = Topic(name, queue_count, queue_count, permission, flag=flag)
        return self._put(topic, now_ms)

    def update(self, topic: Topic, now_ms: int) -> None:
        """Create or replace a topic."""
        check_topic_name(topic.name)
        self.table[topic.name] = topic
        self._next_version(now_ms)
        self._changed(topic)  # [ROUTE-BROKER-008] [ROUTE-BROKER-009]

    def delete(self, name: str, now_ms: int) -> None:
        """Forget a topic."""
        if self.table.pop(name, None) is not None:
            self._next_version(now_ms)
            self._changed(None)

    def order(self, names: Iterable[str], now_ms: int) -> None:
        """Make the topics in *names*, and no others, ordered."""
        wanted = set(names)
        # [ROUTE-BROKER-012] [ROUTE-BROKER-013]
        wrong = [t for t in self.table.values() if t.is_ordered != (t.name in wanted)]
        for topic in wrong:
            self.table[topic.name] = replace(topic, is_ordered=not topic.is_ordered)
        if wrong:
            self._next_version(now_ms)
            self._changed(None)

    def touch(self, now_ms: int) -> None:
        """Make this table news, for something that is announced with it."""
        self._next_version(now_ms)

    def version(self) -> dict[str, int]:
        """Return the version of this table, as bodies spell it."""
        return {"counter": self.counter, "timestamp": self.timestamp_ms}

    def as_json(self) -> dict[str, object]:
        """Return the table as ``topics.json`` and tools have it."""
        return self.wrapper(self.table.values())

    def wrapper(self, topics: Iterable[Topic]) -> dict[str, object]:
        """Return some topics with the version, as bodies spell it."""
        return {
            "dataVersion": self.version(),
            "topicConfigTable": {topic.name: topic.as_json() for topic in topics},
        }

    def load(self, content: Mapping[Any, Any]) -> None:
        """Take over what ``topics.json`` holds."""
        for name, value in (content.get("topicConfigTable") or {}).items():
            topic = Topic.from_json(value, str(name))
            self.table[topic.name] = topic
        version = content.get("dataVersion") or {}
        self.counter = int(version.get("counter", 0))
        self.timestamp_ms = int(version.get("timestamp", self.timestamp_ms))

    def follow(self, content: Mapping[Any, Any], now_ms: int) -> None:  # noqa: ARG002
        """Have the same topics as the master, whose table *content* is."""
        if is_version(content, self.version()):  # [HA-SLAVE-004] [HA-SLAVE-018]
            return
        members = content["topicConfigTable"].items()
        topics = [Topic.from_json(value, str(name)) for name, value in members]
        for topic in topics:
            check_topic_name(topic.name)
        self.table = {}
        self.load(content)
        self._changed(None)

    def _put(self, topic: Topic, now_ms: int) -> Topic:
        check_topic_name(topic.name)
        self.table[topic.name] = topic
        self._next_version(now_ms)
        self._changed(None)
        return topic

    def _next_version(self, now_ms: int) -> None:
        self.timestamp_ms = now_ms
        self.counter += 1


def is_version(content: Mapping[Any, Any], version: Mapping[str, int]) -> bool:
    """Return whether the table *content* has this version, as 4.6.0 compares them."""
    found = content["dataVersion"]
    return all(found.get(name) == number for name, number in version.items())


def check_topic_name(name: str) -> None:
    """Refuse a name that would reach outside the store's directory."""
    if not _HARMLESS.fullmatch(name):
        raise TopicNameError(f"the topic {name!r} cannot be the name of a directory")


def _system_topics(options: BrokerOptions) -> Iterable[Topic]:
    """Return the topics that a broker of 4.6.0 starts with."""
    everything = PERM_INHERIT | PERM_READ | PERM_WRITE
    yield Topic("SELF_TEST_TOPIC", 1, 1)
    if options.truth("autoCreateTopicEnable"):
        count = options.number("defaultTopicQueueNums")
        yield Topic(DEFAULT_TOPIC, count, count, everything)
    yield Topic("BenchmarkTest", 1024, 1024)
    is_open = options.truth("clusterTopicEnable")
    yield Topic(options.cluster, permission=everything if is_open else PERM_INHERIT)
    is_open = options.truth("brokerTopicEnable")
    yield Topic(options.name, 1, 1, everything if is_open else PERM_INHERIT)
    yield Topic(OFFSET_MOVED_TOPIC, 1, 1)
    if options.truth("traceTopicEnable"):
        yield Topic(options.settings["msgTraceTopicName"], 1, 1)
    yield Topic(f"{options.cluster}_REPLY_TOPIC", 1, 1)
