"""
The processor table of the broker: request code to handler.

A request with a code that is not in a table gets no response and leaves the connection
open, as in 4.6.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reference.core.broker import query_message
from reference.core.broker.admin import (
    acl_requests,
    broker_requests,
    runtime_info,
    statistics_requests,
)
from reference.core.broker.group import group_requests, heartbeat
from reference.core.broker.offset import queue_offsets
from reference.core.broker.ports import Ports
from reference.core.broker.pull import pull_message
from reference.core.broker.send import reply, send_back, send_message
from reference.core.broker.state import BrokerState
from reference.core.broker.topic import topic_requests
from reference.core.broker.transaction import check, end_transaction
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.wire.remoting.request_code import RequestCode as Code

SEQUENCE_HANDLERS: Mapping[
    Code, Callable[[BrokerState, Ports, Sequence[Request]], Sequence[Response | None]]
] = {
    Code.SEND_MESSAGE: send_message.handle_send_message,
    Code.SEND_MESSAGE_V2: send_message.handle_send_message,
    Code.SEND_BATCH_MESSAGE: send_message.handle_send_message,
}
"""Handlers of all requests with one code that a connection had ready together."""
PORT_HANDLERS: Mapping[
    Code, Callable[[BrokerState, Ports, Request], Response | None]
] = {
    Code.CONSUMER_SEND_MSG_BACK: send_back.handle_send_back,
    Code.SEND_REPLY_MESSAGE: reply.handle_send_reply,
    Code.SEND_REPLY_MESSAGE_V2: reply.handle_send_reply,
    Code.END_TRANSACTION: end_transaction.handle_end_transaction,
    Code.PULL_MESSAGE: pull_message.handle_pull_message,
    Code.HEART_BEAT: heartbeat.handle_heartbeat,
    Code.UNREGISTER_CLIENT: heartbeat.unregister_client,
    Code.UPDATE_BROKER_CONFIG: broker_requests.update_settings,
    Code.INVOKE_BROKER_TO_RESET_OFFSET: broker_requests.reset_offset,
    Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: broker_requests.consumer_status,
    Code.GET_CONSUMER_RUNNING_INFO: broker_requests.relay_to_client,
    Code.CONSUME_MESSAGE_DIRECTLY: broker_requests.relay_to_client,
}
"""Handlers that send frames, respond later or start something."""
HANDLERS: Mapping[Code, Callable[[BrokerState, Request], Response | None]] = {
    Code.QUERY_MESSAGE: query_message.query_message,
    Code.VIEW_MESSAGE_BY_ID: query_message.view_message,
    Code.QUERY_CONSUMER_OFFSET: queue_offsets.query_consumer_offset,
    Code.UPDATE_CONSUMER_OFFSET: queue_offsets.update_consumer_offset,
    Code.GET_MAX_OFFSET: queue_offsets.max_offset,
    Code.GET_MIN_OFFSET: queue_offsets.min_offset,
    Code.SEARCH_OFFSET_BY_TIMESTAMP: queue_offsets.search_offset,
    Code.GET_EARLIEST_MSG_STORETIME: queue_offsets.earliest_store_time,
    Code.QUERY_CONSUME_QUEUE: query_message.query_consume_queue,
    Code.CHECK_CLIENT_CONFIG: heartbeat.check_client,
    Code.GET_CONSUMER_LIST_BY_GROUP: heartbeat.consumers_of_group,
    Code.LOCK_BATCH_MQ: group_requests.lock_batch_mq,
    Code.UNLOCK_BATCH_MQ: group_requests.unlock_batch_mq,
    Code.UPDATE_AND_CREATE_TOPIC: topic_requests.update_topic,
    Code.DELETE_TOPIC_IN_BROKER: topic_requests.delete_topic,
    Code.CLEAN_UNUSED_TOPIC: topic_requests.delete_unused_topics,
    Code.CLEAN_EXPIRED_CONSUMEQUEUE: topic_requests.delete_expired_queues,
    Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: topic_requests.system_topics,
    Code.GET_ALL_TOPIC_CONFIG: broker_requests.replicated_table,
    Code.GET_ALL_CONSUMER_OFFSET: broker_requests.replicated_table,
    Code.GET_ALL_DELAY_OFFSET: broker_requests.replicated_table,
    Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: broker_requests.replicated_table,
    Code.GET_TOPIC_STATS_INFO: topic_requests.topic_stats,
    Code.QUERY_TOPIC_CONSUME_BY_WHO: topic_requests.groups_of_topic,
    Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: group_requests.update_group,
    Code.DELETE_SUBSCRIPTIONGROUP: group_requests.delete_group,
    Code.GET_CONSUMER_CONNECTION_LIST: group_requests.consumer_connections,
    Code.GET_PRODUCER_CONNECTION_LIST: group_requests.producer_connections,
    Code.GET_CONSUME_STATS: group_requests.consume_stats,
    Code.CLONE_GROUP_OFFSET: group_requests.clone_offsets,
    Code.GET_BROKER_RUNTIME_INFO: runtime_info.runtime_info,
    Code.GET_BROKER_CONFIG: broker_requests.broker_settings,
    Code.VIEW_BROKER_STATS_DATA: statistics_requests.view_statistics,
    Code.REGISTER_FILTER_SERVER: broker_requests.register_filter_server,
    Code.QUERY_CONSUME_TIME_SPAN: statistics_requests.consume_time_spans,
    Code.GET_BROKER_CONSUME_STATS: statistics_requests.all_consume_stats,
    Code.QUERY_CORRECTION_OFFSET: statistics_requests.smallest_offsets,
    Code.RESUME_CHECK_HALF_MESSAGE: check.resume_check,
    Code.UPDATE_AND_CREATE_ACL_CONFIG: acl_requests.update_account,
    Code.DELETE_ACL_CONFIG: acl_requests.remove_account,
    Code.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: acl_requests.update_white_addresses,
    Code.GET_BROKER_CLUSTER_ACL_INFO: acl_requests.access_version,
    Code.GET_BROKER_CLUSTER_ACL_CONFIG: acl_requests.all_accounts,
}
"""Handlers that read and change tables."""
PROCESSORS: Mapping[Code, Callable[..., object]] = {
    **SEQUENCE_HANDLERS,
    **PORT_HANDLERS,
    **HANDLERS,
}
"""Every request that a broker handles."""
