"""
The settings of consumer groups, as subscriptionGroup.json and administrators' requests
have them.

The file is rewritten whenever a group is created or changed. Brokers create groups of
their own, and with autoCreateSubscriptionGroup one for each requested name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from spec.wire.bodies.json_body import Body, Member, OpenBody


class TableVersion(Body, frozen=True, kw_only=True):
    """State of a table in a file (Java: DataVersion)."""

    counter: Annotated[int, Member("counter", "changes so far")] = 0
    state_version: Annotated[
        int | None, Member("stateVersion", "the controller's epoch", since="5.0")
    ] = None
    timestamp_ms: Annotated[int, Member("timestamp", "of the last change")] = 0


class SubscriptionGroupConfig(OpenBody, frozen=True, kw_only=True):
    """The settings of a consumer group."""

    name: Annotated[str, Member("groupName", "the group")]
    can_consume: Annotated[bool, Member("consumeEnable")] = True
    can_consume_from_min: Annotated[bool, Member("consumeFromMinEnable")] = True
    can_broadcast: Annotated[bool, Member("consumeBroadcastEnable")] = True
    retry_queue_count: Annotated[
        int, Member("retryQueueNums", "queues of its retry topic")
    ] = 1
    retry_max_times: Annotated[
        int, Member("retryMaxTimes", "then a message is a dead letter")
    ] = 16
    broker_id: Annotated[int, Member("brokerId", "where it consumes")] = 0
    broker_when_slow: Annotated[
        int, Member("whichBrokerWhenConsumeSlowly", "the id of a slave")
    ] = 1
    notifies_consumer_ids_changed: Annotated[
        bool, Member("notifyConsumerIdsChangedEnable", "when one comes or goes")
    ] = True
    is_ordered: Annotated[
        bool | None, Member("consumeMessageOrderly", "pops in order", since="5.0")
    ] = None
    retry_policy: Annotated[
        object, Member("groupRetryPolicy", "delays of pops", since="5.0")
    ] = None
    flags: Annotated[int | None, Member("groupSysFlag", since="5.0")] = None
    timeout_minutes: Annotated[
        int | None, Member("consumeTimeoutMinute", "of a message", since="5.0")
    ] = None
    attributes: Annotated[
        object, Member("attributes", "texts by name", since="5.1")
    ] = None


class GroupsFile(OpenBody, frozen=True, kw_only=True):
    """The file subscriptionGroup.json."""

    groups: Annotated[
        Mapping[str, SubscriptionGroupConfig], Member("subscriptionGroupTable")
    ] = {}
    version: Annotated[TableVersion | None, Member("dataVersion")] = None
    forbidden: Annotated[
        object, Member("forbiddenTable", "bits by group and topic", since="5.0")
    ] = None
