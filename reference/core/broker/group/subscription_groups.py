"""
The configuration of consumer groups (Java: SubscriptionGroupManager).

It has the permission to consume, the limit of retries and the number of retry queues. A
group without a configuration gets the default at its first request. The table is
persisted in ``subscriptionGroup.json``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.topic.topic_config import is_version
from spec.routing.json_object import integer_in, object_in

SYSTEM_GROUP_PREFIX = "CID_RMQ_SYS_"
_BUILT_IN = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionGroup:
    """The configuration of one consumer group (Java: SubscriptionGroupConfig)."""

    name: str
    may_consume: bool = True
    may_consume_from_min: bool = True
    may_broadcast: bool = True
    retry_queue_count: int = 1
    retry_times_max: int = 16
    broker_id: int = 0
    broker_id_when_slow: int = 1
    notifies_changes: bool = True

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of bodies and files."""
        return {
            "brokerId": self.broker_id,
            "consumeBroadcastEnable": self.may_broadcast,
            "consumeEnable": self.may_consume,
            "consumeFromMinEnable": self.may_consume_from_min,
            "groupName": self.name,
            "notifyConsumerIdsChangedEnable": self.notifies_changes,
            "retryMaxTimes": self.retry_times_max,
            "retryQueueNums": self.retry_queue_count,
            "whichBrokerWhenConsumeSlowly": self.broker_id_when_slow,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any], name: str = "") -> SubscriptionGroup:
        """Return the group of a JSON object; absent members have their default."""
        return cls(
            name=str(value.get("groupName") or name),
            may_consume=bool(value.get("consumeEnable", True)),
            may_consume_from_min=bool(value.get("consumeFromMinEnable", True)),
            may_broadcast=bool(value.get("consumeBroadcastEnable", True)),
            retry_queue_count=int(value.get("retryQueueNums", 1)),
            retry_times_max=int(value.get("retryMaxTimes", 16)),
            broker_id=int(value.get("brokerId", 0)),
            broker_id_when_slow=int(value.get("whichBrokerWhenConsumeSlowly", 1)),
            notifies_changes=bool(value.get("notifyConsumerIdsChangedEnable", True)),
        )


class SubscriptionGroups:
    """The table of consumer groups, and the version of that table."""

    def __init__(
        self, options: BrokerOptions, *, now_ms: int, changed: Callable[[], None]
    ) -> None:
        self.table = {name: SubscriptionGroup(name=name) for name in _BUILT_IN}
        self.timestamp_ms = now_ms
        self.counter = 0
        self._changed = changed
        self._options = options

    def find(self, name: str, now_ms: int) -> SubscriptionGroup | None:
        """Return the group *name*, configuring it by default where that is allowed."""
        group = self.table.get(name)
        if group is not None:
            return group
        auto_create = self._options.auto_create_subscription_group
        if not auto_create and not name.startswith(SYSTEM_GROUP_PREFIX):
            return None
        group = SubscriptionGroup(name=name)
        self.update(group, now_ms)
        return group

    def update(self, group: SubscriptionGroup, now_ms: int) -> None:
        """Create or replace a group."""
        self.table[group.name] = group
        self._next_version(now_ms)

    def delete(self, name: str, now_ms: int) -> None:
        """Delete a group."""
        if self.table.pop(name, None) is not None:
            self._next_version(now_ms)

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of ``subscriptionGroup.json`` and of tools."""
        return {
            "dataVersion": {"counter": self.counter, "timestamp": self.timestamp_ms},
            "subscriptionGroupTable": {
                name: group.as_json() for name, group in self.table.items()
            },
        }

    def load(self, content: Mapping[Any, Any]) -> None:
        """Load ``subscriptionGroup.json``."""
        groups = {
            str(name): SubscriptionGroup.from_json(value, str(name))
            for name, value in object_in(content, "subscriptionGroupTable").items()
        }
        version = object_in(content, "dataVersion")
        self.counter = integer_in(version, "counter", 0)
        self.timestamp_ms = integer_in(version, "timestamp", self.timestamp_ms)
        self.table |= groups

    def follow(self, content: Mapping[Any, Any], now_ms: int) -> None:  # noqa: ARG002
        """Replace the table by *content*, the table of the master."""
        version = {"counter": self.counter, "timestamp": self.timestamp_ms}
        if is_version(content, version):  # [HA-SLAVE-007]
            return
        members = content["subscriptionGroupTable"].items()
        self.table = {
            str(name): SubscriptionGroup.from_json(value, str(name))
            for name, value in members
        }
        self.load(content)
        self._changed()

    def _next_version(self, now_ms: int) -> None:
        self.timestamp_ms = now_ms
        self.counter += 1
        self._changed()
