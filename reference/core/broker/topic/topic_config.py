"""
The topics of a broker: queue counts, permission and flags (Java: TopicConfigManager).

A topic is created by a tool, by the first message to it, or as the retry or dead-letter
topic of a consumer group. The table is persisted in ``topics.json``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.config_table import ConfigTable
from reference.core.remoting.request import Refused
from reference.core.remoting.response import SYSTEM_ERROR
from spec.routing.topic_config import Permission, TopicFlag
from spec.store.config.group_settings import SubscriptionGroupConfig
from spec.wire.bodies.json_object import JsonObject
from spec.wire.message.topic_names import (
    BENCHMARK_TOPIC,
    DEFAULT_TOPIC,
    DLQ_PREFIX,
    OFFSET_MOVED_TOPIC,
    REPLY_TOPIC_POSTFIX,
    RETRY_PREFIX,
    SELF_TEST_TOPIC,
)
from spec.wire.remoting.frame import FRAME_SIZE_MAX

PERM_READ, PERM_WRITE = int(Permission.READ), int(Permission.WRITE)
PERM_INHERIT = int(Permission.INHERIT)
QUEUES_SHOWN_MAX = FRAME_SIZE_MAX // 100
"""Queues that a response can have: each takes more than 100 bytes of its frame."""
TOPIC_FILTER_TYPES = "SINGLE_TAG", "MULTI_TAG"
UNIT_FLAG = int(TopicFlag.UNIT)
UNIT_SUBSCRIPTION_FLAG = int(TopicFlag.UNIT_SUBSCRIPTION)
_HARMLESS = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00]+")


class TopicNameError(ValueError):
    """A topic name that cannot be the name of a directory."""


class Topic(Struct, frozen=True):
    """One topic's configuration on this broker."""

    name: str
    read_queue_count: int = 16
    write_queue_count: int = 16
    permission: int = PERM_READ | PERM_WRITE
    filter_type: str = "SINGLE_TAG"
    flag: int = 0
    is_ordered: bool = False
    has_many_tags: bool = False
    """Whether a message may have more than one tag."""
    queue_count: int = 0
    """Number of queues that a send may name: the greater of the two counts."""

    def __post_init__(self) -> None:
        """Derive the attributes that every send reads."""
        force_setattr(self, "has_many_tags", self.filter_type == "MULTI_TAG")
        count = max(self.write_queue_count, self.read_queue_count)
        force_setattr(self, "queue_count", count)

    def __str__(self) -> str:
        """Return the text of 4.6.0 in remarks."""
        letters = zip("RWX", (PERM_READ, PERM_WRITE, PERM_INHERIT), strict=True)
        perm = "".join(c if self.permission & bit else "-" for c, bit in letters)
        return (
            f"TopicConfig [topicName={self.name}, "
            f"readQueueNums={self.read_queue_count}, "
            f"writeQueueNums={self.write_queue_count}, perm={perm}, "
            f"topicFilterType={self.filter_type}, topicSysFlag={self.flag}, "
            f"order={str(self.is_ordered).lower()}]"
        )


class Topics(ConfigTable[Topic]):
    """The table of a broker's topics (Java: TopicConfigSerializeWrapper)."""

    MEMBER = "topicConfigTable"

    def __init__(
        self,
        options: BrokerOptions,
        *,
        now_ms: int,
        changed: Callable[[Topic | None], None],
    ) -> None:
        super().__init__(_system_topics(options), now_ms=now_ms, changed=changed)
        self.system = frozenset(self.table)
        self._options = options

    def row_of(self, value: JsonObject, name: str) -> Topic:
        """Return the topic of a JSON object."""
        return Topic(
            str(value.get("topicName") or name),
            read_queue_count=int(value.get("readQueueNums", 16)),
            write_queue_count=int(value.get("writeQueueNums", 16)),
            permission=int(value.get("perm", 6)),
            filter_type=str(value.get("topicFilterType", "SINGLE_TAG")),
            flag=int(value.get("topicSysFlag", 0)),
            is_ordered=bool(value.get("order", False)),
        )

    def row_as_json(self, row: Topic) -> dict[str, object]:
        """Return the JSON object of a topic."""
        return {
            "order": row.is_ordered,
            "perm": row.permission,
            "readQueueNums": row.read_queue_count,
            "topicFilterType": row.filter_type,
            "topicName": row.name,
            "topicSysFlag": row.flag,  # [ROUTE-BROKER-010]
            "writeQueueNums": row.write_queue_count,
        }

    def check_name(self, name: str) -> None:
        """Raise TopicNameError for a path outside the store's directory."""
        if not _HARMLESS.fullmatch(name):
            reason = "cannot be the name of a directory"
            raise TopicNameError(f"the topic {name!r} {reason}")

    def create_like(
        self, name: str, *, default: str, queue_count: int, flag: int, now_ms: int
    ) -> Topic | None:
        """Create a topic after the model *default*; None where that is not allowed."""
        model = self.table.get(default)  # [SEND-TOPIC-013]
        if model is None:
            return None
        creates = self._options.auto_create_topic_enable
        if default == DEFAULT_TOPIC and not creates:  # [SEND-TOPIC-014]
            # It stays so, even when the setting is changed later. [SEND-TOPIC-015]
            model = replace(model, permission=PERM_READ | PERM_WRITE)
            self.table[default] = model
        if not model.permission & PERM_INHERIT:
            return None
        count = max(min(queue_count, model.write_queue_count), 0)
        topic = Topic(
            name,
            count,
            count,
            permission=model.permission & ~PERM_INHERIT,
            filter_type=model.filter_type,
            flag=flag,
        )
        return self.put(topic, now_ms)

    def create_once(
        self,
        name: str,
        *,
        now_ms: int,
        queue_count: int = 1,
        permission: int = PERM_READ | PERM_WRITE,
        flag: int = 0,
    ) -> Topic:
        """Return the topic *name*, created where it does not exist."""
        known = self.table.get(name)
        if known is not None:
            return known
        topic = Topic(name, queue_count, queue_count, permission=permission, flag=flag)
        return self.put(topic, now_ms)

    def retry_topic(
        self, group: SubscriptionGroupConfig, now_ms: int, *, is_unit: bool
    ) -> Topic:
        """Return the retry topic of a group, created where it does not exist."""
        return self.create_once(
            RETRY_PREFIX + group.name,  # [GROUP-RETRY-001]
            queue_count=group.retry_queue_count,
            now_ms=now_ms,
            flag=UNIT_SUBSCRIPTION_FLAG if is_unit else 0,
        )

    def dead_letter_topic(self, group: str, now_ms: int) -> Topic:
        """Return the dead-letter topic of a group, created where it does not exist."""
        permission = PERM_WRITE  # [RETRY-DLQ-002]
        name = DLQ_PREFIX + group
        return self.create_once(name, permission=permission, now_ms=now_ms)

    def order(self, names: Iterable[str], now_ms: int) -> None:
        """Make exactly the topics in *names* ordered."""
        wanted = set(names)
        # [ROUTE-BROKER-012] [ROUTE-BROKER-013]
        wrong = [t for t in self.table.values() if t.is_ordered != (t.name in wanted)]
        for topic in wrong:
            self.table[topic.name] = replace(topic, is_ordered=not topic.is_ordered)
        if wrong:
            self.touch(now_ms)
            self._changed(None)


def check_shown_queues(count: int) -> None:
    """Raise Refused for a response with more queues than fit its frame.

    A tool may give a topic 2,147,483,647 queues, which would be hours of work.
    """
    if count > QUEUES_SHOWN_MAX:
        remark = f"{count} queues do not fit a response"
        raise Refused(SYSTEM_ERROR, remark)


def _system_topics(options: BrokerOptions) -> Iterable[Topic]:
    """Yield the topics that a broker of 4.6.0 starts with."""
    everything = PERM_INHERIT | PERM_READ | PERM_WRITE
    yield Topic(SELF_TEST_TOPIC, 1, 1)
    if options.auto_create_topic_enable:
        count = options.default_topic_queue_nums
        yield Topic(DEFAULT_TOPIC, count, count, permission=everything)
    yield Topic(BENCHMARK_TOPIC, 1024, 1024)
    is_open = options.cluster_topic_enable
    yield Topic(
        options.broker_cluster_name, permission=everything if is_open else PERM_INHERIT
    )
    is_open = options.broker_topic_enable
    yield Topic(
        options.broker_name, 1, 1, permission=everything if is_open else PERM_INHERIT
    )
    yield Topic(OFFSET_MOVED_TOPIC, 1, 1)
    if options.trace_topic_enable:
        yield Topic(options.msg_trace_topic_name, 1, 1)
    yield Topic(f"{options.broker_cluster_name}{REPLY_TOPIC_POSTFIX}", 1, 1)
