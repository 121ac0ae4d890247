"""
The configuration of consumer groups (Java: SubscriptionGroupManager).

It has the permission to consume, the limit of retries and the number of retry queues. A
group without a configuration gets the default at its first request. The table is
persisted in ``subscriptionGroup.json``.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.config_table import ConfigTable
from spec.store.config.group_settings import SubscriptionGroupConfig
from spec.wire.bodies.json_body import body_as_json, body_from_json, members
from spec.wire.bodies.json_object import JsonObject

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


class SubscriptionGroups(ConfigTable[SubscriptionGroupConfig]):
    """The table of consumer groups."""

    MEMBER = "subscriptionGroupTable"

    def __init__(
        self,
        options: BrokerOptions,
        *,
        now_ms: int,
        changed: Callable[[SubscriptionGroupConfig | None], None],
    ) -> None:
        built_in = [SubscriptionGroupConfig(name=name) for name in _BUILT_IN]
        super().__init__(built_in, now_ms=now_ms, changed=changed)
        self._options = options

    def row_of(self, value: JsonObject, name: str = "") -> SubscriptionGroupConfig:
        """Return the group of a JSON object."""
        # Members of later releases are lost, as in 4.6.0.
        names = (
            member.java_name
            for _, member, _, _ in members(SubscriptionGroupConfig)
            if member.since == "4.4"
        )
        given = {one: value[one] for one in names if value.get(one) is not None}
        return body_from_json(SubscriptionGroupConfig, {"groupName": name, **given})

    def row_as_json(self, row: SubscriptionGroupConfig) -> dict[str, object]:
        """Return the JSON object of a group."""
        return body_as_json(row)

    def find(self, name: str, now_ms: int) -> SubscriptionGroupConfig | None:
        """Return the group *name*, configuring it by default where that is allowed."""
        group = self.table.get(name)
        if group is not None:
            return group
        auto_create = self._options.auto_create_subscription_group
        if not auto_create and not name.startswith(SYSTEM_GROUP_PREFIX):
            return None
        # [PULL-GROUP-005]
        return self.put(SubscriptionGroupConfig(name=name), now_ms)
