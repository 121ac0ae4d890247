"""
Which request of a broker goes where.

A code that is not in the table is left unanswered, and the connection stays: so does
4.6.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference.core.answer import Answer
from reference.core.broker.access_requests import change_access, tell_access
from reference.core.broker.admin import (
    ask_client,
    broker_settings,
    reset_offset,
    update_settings,
)
from reference.core.broker.broker import Broker
from reference.core.broker.consumer_status import consumer_status
from reference.core.broker.everyday_send import send_everyday
from reference.core.broker.filter_servers import register_filter_server
from reference.core.broker.group_requests import (
    all_consumer_offsets,
    all_groups,
    clone_offsets,
    consume_stats,
    consumer_connections,
    delete_group,
    producer_connections,
    update_group,
)
from reference.core.broker.locks import lock_queues, unlock_queues
from reference.core.broker.lookup import query_message, view_message
from reference.core.broker.membership import (
    check_client,
    consumers_of_group,
    heartbeat,
    unregister_client,
)
from reference.core.broker.pull import pull_message
from reference.core.broker.queues import (
    earliest_store_time,
    max_offset,
    min_offset,
    query_consume_queue,
    query_consumer_offset,
    search_offset,
    update_consumer_offset,
)
from reference.core.broker.reply import send_reply
from reference.core.broker.retry import send_back
from reference.core.broker.runtime_info import runtime_info
from reference.core.broker.send import send_message
from reference.core.broker.slave_sync import all_delay_offsets
from reference.core.broker.statistics_requests import (
    all_consume_stats,
    consume_time_spans,
    smallest_offsets,
    traffic,
)
from reference.core.broker.store_cleaning import delete_expired_queues
from reference.core.broker.topic_requests import (
    all_topic_configs,
    delete_topic,
    delete_unused_topics,
    groups_of_topic,
    system_topics,
    topic_stats,
    update_topic,
)
from reference.core.broker.transaction_check import resume_check
from reference.core.broker.transactions import end_transaction
from reference.core.request import Request
from spec.wire.request_code import RequestCode as Code

HANDLERS: Mapping[Code, Callable[[Broker, Request], Answer | None]] = {
    Code.SEND_MESSAGE: send_message,
    Code.SEND_MESSAGE_V2: send_everyday,
    Code.SEND_BATCH_MESSAGE: send_message,
    Code.CONSUMER_SEND_MSG_BACK: send_back,
    Code.SEND_REPLY_MESSAGE: send_reply,
    Code.SEND_REPLY_MESSAGE_V2: send_reply,
    Code.END_TRANSACTION: end_transaction,
    Code.PULL_MESSAGE: pull_message,
    Code.QUERY_MESSAGE: query_message,
    Code.VIEW_MESSAGE_BY_ID: view_message,
    Code.QUERY_CONSUMER_OFFSET: query_consumer_offset,
    Code.UPDATE_CONSUMER_OFFSET: update_consumer_offset,
    Code.GET_MAX_OFFSET: max_offset,
    Code.GET_MIN_OFFSET: min_offset,
    Code.SEARCH_OFFSET_BY_TIMESTAMP: search_offset,
    Code.GET_EARLIEST_MSG_STORETIME: earliest_store_time,
    Code.QUERY_CONSUME_QUEUE: query_consume_queue,
    Code.HEART_BEAT: heartbeat,
    Code.UNREGISTER_CLIENT: unregister_client,
    Code.CHECK_CLIENT_CONFIG: check_client,
    Code.GET_CONSUMER_LIST_BY_GROUP: consumers_of_group,
    Code.LOCK_BATCH_MQ: lock_queues,
    Code.UNLOCK_BATCH_MQ: unlock_queues,
    Code.UPDATE_AND_CREATE_TOPIC: update_topic,
    Code.DELETE_TOPIC_IN_BROKER: delete_topic,
    Code.CLEAN_UNUSED_TOPIC: delete_unused_topics,
    Code.CLEAN_EXPIRED_CONSUMEQUEUE: delete_expired_queues,
    Code.GET_ALL_TOPIC_CONFIG: all_topic_configs,
    Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: system_topics,
    Code.GET_TOPIC_STATS_INFO: topic_stats,
    Code.QUERY_TOPIC_CONSUME_BY_WHO: groups_of_topic,
    Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: update_group,
    Code.DELETE_SUBSCRIPTIONGROUP: delete_group,
    Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: all_groups,
    Code.GET_ALL_CONSUMER_OFFSET: all_consumer_offsets,
    Code.GET_ALL_DELAY_OFFSET: all_delay_offsets,
    Code.GET_CONSUMER_CONNECTION_LIST: consumer_connections,
    Code.GET_PRODUCER_CONNECTION_LIST: producer_connections,
    Code.GET_CONSUME_STATS: consume_stats,
    Code.CLONE_GROUP_OFFSET: clone_offsets,
    Code.GET_BROKER_RUNTIME_INFO: runtime_info,
    Code.GET_BROKER_CONFIG: broker_settings,
    Code.UPDATE_BROKER_CONFIG: update_settings,
    Code.INVOKE_BROKER_TO_RESET_OFFSET: reset_offset,
    Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: consumer_status,
    Code.GET_CONSUMER_RUNNING_INFO: ask_client,
    Code.CONSUME_MESSAGE_DIRECTLY: ask_client,
    Code.VIEW_BROKER_STATS_DATA: traffic,
    Code.REGISTER_FILTER_SERVER: register_filter_server,
    Code.QUERY_CONSUME_TIME_SPAN: consume_time_spans,
    Code.GET_BROKER_CONSUME_STATS: all_consume_stats,
    Code.QUERY_CORRECTION_OFFSET: smallest_offsets,
    Code.RESUME_CHECK_HALF_MESSAGE: resume_check,
    Code.UPDATE_AND_CREATE_ACL_CONFIG: change_access,
    Code.DELETE_ACL_CONFIG: change_access,
    Code.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: change_access,
    Code.GET_BROKER_CLUSTER_ACL_INFO: tell_access,
    Code.GET_BROKER_CLUSTER_ACL_CONFIG: tell_access,
}
"""Every request that a broker answers."""
