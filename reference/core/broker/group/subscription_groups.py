"""
The configuration of consumer groups (Java: SubscriptionGroupManager).

It has the permission to consume, the limit of retries and the number of retry queues. A
group without a configuration gets the default at its first request. The table is
persisted in ``subscriptionGroup.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.config_table import ConfigTable

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


class SubscriptionGroups(ConfigTable[SubscriptionGroup]):
    """The table of consumer groups."""

    MEMBER = "subscriptionGroupTable"

    def __init__(
        self,
        options: BrokerOptions,
        *,
        now_ms: int,
        changed: Callable[[SubscriptionGroup | None], None],
    ) -> None:
        built_in = [SubscriptionGroup(name=name) for name in _BUILT_IN]
        super().__init__(built_in, now_ms=now_ms, changed=changed)
        self._options = options

    def row_of(self, value: dict[str, Any], name: str = "") -> SubscriptionGroup:
        """Return the group of a JSON object."""
        return SubscriptionGroup(
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

    def find(self, name: str, now_ms: int) -> SubscriptionGroup | None:
        """Return the group *name*, configuring it by default where that is allowed."""
        group = self.table.get(name)
        if group is not None:
            return group
        auto_create = self._options.auto_create_subscription_group
        if not auto_create and not name.startswith(SYSTEM_GROUP_PREFIX):
            return None
        return self.put(SubscriptionGroup(name=name), now_ms)
