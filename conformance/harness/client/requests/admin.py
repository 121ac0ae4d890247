"""Requests that administer a broker: topics, groups, settings, statistics."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.harness.client.requests.invoker import (
    FieldValue,
    Invoker,
    body_of,
    json_body,
    settings_in,
)
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

READ_AND_WRITE = 6

GROUP_DEFAULTS: Mapping[str, object] = {
    "consumeEnable": True,
    "consumeFromMinEnable": True,
    "consumeBroadcastEnable": True,
    "retryQueueNums": 1,
    "retryMaxTimes": 16,
    "brokerId": 0,
    "whichBrokerWhenConsumeSlowly": 1,
    "notifyConsumerIdsChangedEnable": True,
}
"""Settings of a group in every release (Java: SubscriptionGroupConfig)."""


class AdminRequests(Invoker):
    """The requests of an administrator to a broker."""

    def create_topic(
        self,
        *,
        topic: str,
        queue_count: int = 4,
        read_queue_count: int | None = None,
        permissions: int = READ_AND_WRITE,
        default_topic: str = "TBW102",
        filter_type: str | None = "SINGLE_TAG",
        system_flags: int = 0,
        order: bool = False,
        attributes: str | None = None,
    ) -> Command:
        """Create a topic on this broker, or change its configuration.

        *attributes* exist since 5.0, for example ``+queue.type=BatchCQ``.
        """
        return self.invoke(
            RequestCode.UPDATE_AND_CREATE_TOPIC,
            {
                "topic": topic,
                "defaultTopic": default_topic,
                "readQueueNums": read_queue_count or queue_count,
                "writeQueueNums": queue_count,
                "perm": permissions,
                "topicFilterType": filter_type,
                "topicSysFlag": system_flags,
                "order": order,
                "attributes": attributes,
            },
        )

    def delete_topic(self, *, topic: str) -> Command:
        """Delete a topic on this broker."""
        return self.invoke(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": topic})

    def all_topic_config(self) -> Command:
        """Get the configuration of all topics (GET_ALL_TOPIC_CONFIG)."""
        return self.invoke(RequestCode.GET_ALL_TOPIC_CONFIG)

    def topic_stats(self, *, topic: str) -> Command:
        """Get the least and greatest offsets of a topic's queues."""
        return self.invoke(RequestCode.GET_TOPIC_STATS_INFO, {"topic": topic})

    def consume_stats(self, *, group: str, topic: str | None = None) -> Command:
        """Get the offsets and the lag of a group (GET_CONSUME_STATS)."""
        fields: dict[str, FieldValue] = {"consumerGroup": group, "topic": topic}
        return self.invoke(RequestCode.GET_CONSUME_STATS, fields)

    def broker_config(self) -> Command:
        """Get the broker's settings (GET_BROKER_CONFIG)."""
        return self.invoke(RequestCode.GET_BROKER_CONFIG)

    def broker_settings(self) -> dict[str, str]:
        """Return the broker's settings by name."""
        return settings_in(self.broker_config())

    def update_broker_config(self, settings: Mapping[str, str]) -> Command:
        """Change settings of the running broker."""
        lines = "".join(f"{key}={value}\n" for key, value in settings.items())
        return self.invoke(RequestCode.UPDATE_BROKER_CONFIG, body=lines.encode())

    def broker_runtime_info(self) -> Command:
        """Get the broker's runtime statistics (GET_BROKER_RUNTIME_INFO)."""
        return self.invoke(RequestCode.GET_BROKER_RUNTIME_INFO)

    def all_consumer_offsets(self) -> Command:
        """Get all committed offsets, as a slave does (GET_ALL_CONSUMER_OFFSET)."""
        return self.invoke(RequestCode.GET_ALL_CONSUMER_OFFSET)

    def all_delay_offsets(self) -> Command:
        """Get the offset of each delay level, as a slave does."""
        return self.invoke(RequestCode.GET_ALL_DELAY_OFFSET)

    def update_group(
        self, *, group: str, settings: Mapping[str, object] | None = None
    ) -> Command:
        """Create a subscription group, or change its configuration.

        The body has all settings, as that of Java's tools. A broker that has other
        values for absent ones fails ADMIN-GROUP-001, and not each test with a group.
        """
        body = {"groupName": group, **GROUP_DEFAULTS, **(settings or {})}
        code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        return self.invoke(code, body=json_body(body))

    def delete_group(self, *, group: str, **more: FieldValue) -> Command:
        """Delete a subscription group; *more* are fields of some releases."""
        fields: dict[str, FieldValue] = {"groupName": group, **more}
        return self.invoke(RequestCode.DELETE_SUBSCRIPTIONGROUP, fields)

    def all_groups(self) -> Command:
        """Get the configuration of all subscription groups."""
        return self.invoke(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)

    def group_topics(self, *, topic: str) -> Command:
        """Get the groups that consume a topic (QUERY_TOPIC_CONSUME_BY_WHO)."""
        return self.invoke(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, {"topic": topic})

    def reset_offset(
        self, *, group: str, topic: str, timestamp_ms: int, force: bool = True
    ) -> Command:
        """Reset a group's offsets to the messages stored at a time."""
        return self.invoke(
            RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
            {
                "topic": topic,
                "group": group,
                "timestamp": timestamp_ms,
                "isForce": force,
            },
        )

    def broker_release(self) -> str:
        """Return the release that the broker reports, such as ``4.6.0``."""
        info = body_of(self.broker_runtime_info())
        table = info.get("table", {}) if isinstance(info, Mapping) else {}
        described = str(table.get("brokerVersionDesc", ""))
        described = described.removesuffix("_SNAPSHOT")
        return described.removeprefix("V").replace("_", ".")
