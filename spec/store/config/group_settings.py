"""
The settings of consumer groups, as subscriptionGroup.json and administrators' requests
have them.

The file is rewritten whenever a group is created or changed. Brokers create groups of
their own, and with autoCreateSubscriptionGroup one for each requested name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.wire.bodies.json_body import (
    ANYTHING,
    INTEGER,
    TEXT,
    TRUTH,
    map_of,
    member,
    object_of,
    rest_of_members,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableVersion:
    """State of a table in a file (Java: DataVersion)."""

    counter: int = member("counter", INTEGER, "changes so far", default=0)
    state_version: int | None = member(
        "stateVersion", INTEGER, "the controller's epoch", default=None, since="5.0"
    )
    timestamp_ms: int = member("timestamp", INTEGER, "of the last change", default=0)


VERSION = object_of(TableVersion)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionGroupConfig:
    """The settings of a consumer group."""

    name: str = member("groupName", TEXT, "the group")
    can_consume: bool = member("consumeEnable", TRUTH, "", default=True)
    can_consume_from_min: bool = member("consumeFromMinEnable", TRUTH, "", default=True)
    can_broadcast: bool = member("consumeBroadcastEnable", TRUTH, "", default=True)
    retry_queue_count: int = member(
        "retryQueueNums", INTEGER, "queues of its retry topic", default=1
    )
    retry_max_times: int = member(
        "retryMaxTimes", INTEGER, "then a message is a dead letter", default=16
    )
    broker_id: int = member("brokerId", INTEGER, "where it consumes", default=0)
    broker_when_slow: int = member(
        "whichBrokerWhenConsumeSlowly", INTEGER, "the id of a slave", default=1
    )
    notifies_consumer_ids_changed: bool = member(
        "notifyConsumerIdsChangedEnable", TRUTH, "when one comes or goes", default=True
    )
    is_ordered: bool | None = member(
        "consumeMessageOrderly", TRUTH, "pops in order", default=None, since="5.0"
    )
    retry_policy: object = member(
        "groupRetryPolicy", ANYTHING, "delays of pops", default=None, since="5.0"
    )
    flags: int | None = member("groupSysFlag", INTEGER, "", default=None, since="5.0")
    timeout_minutes: int | None = member(
        "consumeTimeoutMinute", INTEGER, "of a message", default=None, since="5.0"
    )
    attributes: object = member(
        "attributes", ANYTHING, "texts by name", default=None, since="5.1"
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsFile:
    """The file subscriptionGroup.json."""

    groups: Mapping[str, SubscriptionGroupConfig] = member(
        "subscriptionGroupTable",
        map_of(TEXT, object_of(SubscriptionGroupConfig)),
        "",
        default=dict,
    )
    version: TableVersion | None = member("dataVersion", VERSION, "", default=None)  # noqa: RUF009 # a field
    forbidden: object = member(
        "forbiddenTable",
        ANYTHING,
        "bits by group and topic",
        default=None,
        since="5.0",
    )
    rest: Mapping[str, object] = rest_of_members()
