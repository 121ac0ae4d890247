"""Every declared JSON body of the specification, by the name of its golden print."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import NODEFAULT

from spec.store.config import filter_settings, group_settings, settings_files
from spec.wire.bodies import (
    admin_bodies,
    heartbeat,
    offset_tables,
    running_info,
)
from spec.wire.bodies.json_body import Body, members
from spec.wire.bodies.queue_name import QueueName
from spec.wire.consumer import queue_locks
from spec.wire.pop import pop_bodies

BODIES: dict[str, type[Body]] = {
    "ack_msg": pop_bodies.AckMsg,
    "batch_ack": pop_bodies.BatchAck,
    "batch_ack_message_request_body": pop_bodies.BatchAckMessageRequestBody,
    "broker_member_group": admin_bodies.BrokerMemberGroup,
    "broker_stats_data": admin_bodies.BrokerStatsData,
    "broker_stats_item": admin_bodies.BrokerStatsItem,
    "check_client_request_body": heartbeat.CheckClientRequestBody,
    "connection": heartbeat.Connection,
    "consume_message_directly_result": running_info.ConsumeMessageDirectlyResult,
    "consume_queue_data": admin_bodies.ConsumeQueueData,
    "consume_stats": offset_tables.ConsumeStats,
    "consume_stats_list": admin_bodies.ConsumeStatsList,
    "consume_status": running_info.ConsumeStatus,
    "consumer_connection": heartbeat.ConsumerConnection,
    "consumer_data": heartbeat.ConsumerData,
    "consumer_filter_data": filter_settings.ConsumerFilterData,
    "consumer_running_info": running_info.ConsumerRunningInfo,
    "filter_data_map_by_topic": filter_settings.FilterDataMapByTopic,
    "get_consumer_list_by_group_response_body": (
        heartbeat.GetConsumerListByGroupResponseBody
    ),
    "get_consumer_status_body": offset_tables.GetConsumerStatusBody,
    "group_list": admin_bodies.GroupList,
    "heartbeat_data": heartbeat.HeartbeatData,
    "lock_batch_request_body": queue_locks.LockBatchRequestBody,
    "lock_batch_response_body": queue_locks.LockBatchResponseBody,
    "message_queue_assignment": pop_bodies.MessageQueueAssignment,
    "message_queue_for_c": offset_tables.MessageQueueForC,
    "offset_wrapper": offset_tables.OffsetWrapper,
    "pop_checkpoint": pop_bodies.PopCheckpoint,
    "process_queue_info": running_info.ProcessQueueInfo,
    "producer_connection": heartbeat.ProducerConnection,
    "producer_data": heartbeat.ProducerData,
    "producer_info": admin_bodies.ProducerInfo,
    "producer_table_info": admin_bodies.ProducerTableInfo,
    "query_assignment_request_body": pop_bodies.QueryAssignmentRequestBody,
    "query_assignment_response_body": pop_bodies.QueryAssignmentResponseBody,
    "query_consume_queue_response_body": admin_bodies.QueryConsumeQueueResponseBody,
    "query_consume_time_span_body": admin_bodies.QueryConsumeTimeSpanBody,
    "query_correction_offset_body": admin_bodies.QueryCorrectionOffsetBody,
    "query_subscription_response_body": admin_bodies.QuerySubscriptionResponseBody,
    "queue_name": QueueName,
    "queue_time_span": admin_bodies.QueueTimeSpan,
    "reset_offset_body": offset_tables.ResetOffsetBody,
    "reset_offset_body_for_c": offset_tables.ResetOffsetBodyForC,
    "set_message_request_mode_request_body": (
        pop_bodies.SetMessageRequestModeRequestBody
    ),
    "settings_counts": settings_files.CountsFile,
    "settings_delay_offsets": settings_files.DelayOffsetsFile,
    "settings_filters": filter_settings.FiltersFile,
    "settings_groups": group_settings.GroupsFile,
    "settings_key_values": settings_files.KeyValuesFile,
    "settings_offsets": settings_files.OffsetsFile,
    "settings_version": group_settings.TableVersion,
    "subscription_data": heartbeat.SubscriptionData,
    "subscription_group_config": group_settings.SubscriptionGroupConfig,
    "topic_offset": offset_tables.TopicOffset,
    "topic_stats_table": offset_tables.TopicStatsTable,
}


def body_table(body: type[Body]) -> str:
    """Return the members of *body* as the lines of a golden print."""
    return "".join(f"{line}\n" for line in _lines(body))


def _lines(body: type[Body]) -> Iterator[str]:
    for name, member, kind, default in members(body):
        absent = "" if default is None or default in ((), {}) else f"{default}"
        absent = "required" if default is NODEFAULT else absent
        since = "" if member.since == "4.4" else f"since {member.since}"
        columns = f"{kind.name:<36} {absent:<9} {since:<12}"
        yield f"{member.java_name:<32}{columns}{member.meaning or name}".rstrip()
