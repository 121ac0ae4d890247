"""Every declared JSON body of the specification, by the name of its golden print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec.store.config import filter_settings, group_settings, settings_files
from spec.wire.bodies import (
    admin_bodies,
    heartbeat,
    offset_tables,
    running_info,
)
from spec.wire.bodies.json_body import members
from spec.wire.bodies.queue_name import QueueName
from spec.wire.consumer import queue_locks
from spec.wire.pop import pop_bodies

BODIES: dict[str, type[Any]] = {
    "ack_of_pop": pop_bodies.AckOfPop,
    "acks_of_pops": pop_bodies.AcksOfPops,
    "assignment": pop_bodies.Assignment,
    "assignment_question": pop_bodies.AssignmentQuestion,
    "assignments": pop_bodies.Assignments,
    "broker_group": admin_bodies.BrokerGroup,
    "connection": heartbeat.Connection,
    "consume_rates": running_info.ConsumeRates,
    "consume_stats": offset_tables.ConsumeStats,
    "consume_times": admin_bodies.ConsumeTimes,
    "consumed_directly": running_info.ConsumedDirectly,
    "consumed_queue": offset_tables.ConsumedQueue,
    "consumer_connections": heartbeat.ConsumerConnections,
    "consumer_membership": heartbeat.ConsumerMembership,
    "consumer_status": offset_tables.ConsumerStatus,
    "corrected_offsets": admin_bodies.CorrectedOffsets,
    "filter_check": heartbeat.FilterCheck,
    "group_members": heartbeat.GroupMembers,
    "group_names": admin_bodies.GroupNames,
    "groups_stats": admin_bodies.GroupsStats,
    "heartbeat": heartbeat.Heartbeat,
    "locked_queues": queue_locks.LockedQueues,
    "pop_ack": pop_bodies.PopAck,
    "pop_checkpoint": pop_bodies.PopCheckpoint,
    "producer": admin_bodies.Producer,
    "producer_connections": heartbeat.ProducerConnections,
    "producer_membership": heartbeat.ProducerMembership,
    "producers": admin_bodies.Producers,
    "queue_in_hand": running_info.QueueInHand,
    "queue_locks": queue_locks.QueueLocks,
    "queue_name": QueueName,
    "queue_times": admin_bodies.QueueTimes,
    "queue_with_offset": offset_tables.QueueWithOffset,
    "queued_message": admin_bodies.QueuedMessage,
    "queued_messages": admin_bodies.QueuedMessages,
    "rate": admin_bodies.Rate,
    "rates": admin_bodies.Rates,
    "request_mode": pop_bodies.RequestMode,
    "reset_offsets": offset_tables.ResetOffsets,
    "reset_offsets_for_cpp": offset_tables.ResetOffsetsForCpp,
    "running_info": running_info.RunningInfo,
    "settings_counts": settings_files.CountsFile,
    "settings_delay_offsets": settings_files.DelayOffsetsFile,
    "settings_filter": filter_settings.GroupFilter,
    "settings_filters": filter_settings.FiltersFile,
    "settings_group": group_settings.Group,
    "settings_groups": group_settings.GroupsFile,
    "settings_key_values": settings_files.KeyValuesFile,
    "settings_offsets": settings_files.OffsetsFile,
    "settings_topic_filters": filter_settings.TopicFilters,
    "settings_version": group_settings.TableVersion,
    "subscription": heartbeat.Subscription,
    "subscription_of_group": admin_bodies.SubscriptionOfGroup,
    "topic_queue": offset_tables.TopicQueue,
    "topic_stats": offset_tables.TopicStats,
}


def body_table(body: type[Any]) -> str:
    """Return the members of *body* as the lines of a golden print."""
    return "".join(f"{line}\n" for line in _lines(body))


def _lines(body: type[Any]) -> Iterator[str]:
    for name, declared, default in members(body):
        absent = "" if default is None or default in ((), {}) else f"{default}"
        absent = "required" if "MISSING" in repr(default) else absent
        since = "" if declared.since == "4.4" else f"since {declared.since}"
        kind = f"{declared.kind.name:<36} {absent:<9} {since:<12}"
        yield f"{declared.java_name:<32}{kind}{declared.meaning or name}".rstrip()
