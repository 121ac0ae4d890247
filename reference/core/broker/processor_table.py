"""
The processor table of the broker: request code to handler.

A request with a code that is not in a table gets no response and leaves the connection
open, as in 4.6.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reference.core.broker.admin.broker_requests import (
    broker_settings,
    change_access,
    get_access,
    register_filter_server,
    relay_to_client,
    reset_offset,
    update_settings,
)
from reference.core.broker.admin.consumer_status import consumer_status
from reference.core.broker.admin.runtime_info import runtime_info
from reference.core.broker.admin.statistics_requests import (
    all_consume_stats,
    consume_time_spans,
    smallest_offsets,
    view_statistics,
)
from reference.core.broker.group.group_requests import (
    all_consumer_offsets,
    all_groups,
    clone_offsets,
    consume_stats,
    consumer_connections,
    delete_group,
    producer_connections,
    update_group,
)
from reference.core.broker.group.heartbeat import (
    check_client,
    consumers_of_group,
    handle_heartbeat,
    unregister_client,
)
from reference.core.broker.group.lock_requests import lock_batch_mq, unlock_batch_mq
from reference.core.broker.ha.slave_sync import all_delay_offsets
from reference.core.broker.offset.queue_offsets import (
    earliest_store_time,
    max_offset,
    min_offset,
    query_consumer_offset,
    search_offset,
    update_consumer_offset,
)
from reference.core.broker.ports import Ports
from reference.core.broker.pull.pull_message import handle_pull_message
from reference.core.broker.query.query_message import (
    query_consume_queue,
    query_message,
    view_message,
)
from reference.core.broker.scheduled.store_cleaning import delete_expired_queues
from reference.core.broker.send.reply import handle_send_reply
from reference.core.broker.send.send_back import handle_send_back
from reference.core.broker.send.send_message import handle_send_message
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_requests import (
    all_topic_configs,
    delete_topic,
    delete_unused_topics,
    groups_of_topic,
    system_topics,
    topic_stats,
    update_topic,
)
from reference.core.broker.transaction.check import resume_check
from reference.core.broker.transaction.end_transaction import handle_end_transaction
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.wire.remoting.request_code import RequestCode as Code

SEQUENCE_HANDLERS: Mapping[
    Code,
    Callable[[BrokerState, Ports, Sequence[Request]], Sequence[Response | None]],
] = {
    Code.SEND_MESSAGE: handle_send_message,
    Code.SEND_MESSAGE_V2: handle_send_message,
    Code.SEND_BATCH_MESSAGE: handle_send_message,
}
"""Handlers of all requests with one code that a connection had ready together."""
PORT_HANDLERS: Mapping[
    Code, Callable[[BrokerState, Ports, Request], Response | None]
] = {
    Code.CONSUMER_SEND_MSG_BACK: handle_send_back,
    Code.SEND_REPLY_MESSAGE: handle_send_reply,
    Code.SEND_REPLY_MESSAGE_V2: handle_send_reply,
    Code.PULL_MESSAGE: handle_pull_message,
    Code.HEART_BEAT: handle_heartbeat,
    Code.UNREGISTER_CLIENT: unregister_client,
    Code.UPDATE_BROKER_CONFIG: update_settings,
    Code.INVOKE_BROKER_TO_RESET_OFFSET: reset_offset,
    Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: consumer_status,
    Code.GET_CONSUMER_RUNNING_INFO: relay_to_client,
    Code.CONSUME_MESSAGE_DIRECTLY: relay_to_client,
}
"""Handlers that send frames, respond later or start something."""
HANDLERS: Mapping[Code, Callable[[BrokerState, Request], Response | None]] = {
    Code.END_TRANSACTION: handle_end_transaction,
    Code.QUERY_MESSAGE: query_message,
    Code.VIEW_MESSAGE_BY_ID: view_message,
    Code.QUERY_CONSUMER_OFFSET: query_consumer_offset,
    Code.UPDATE_CONSUMER_OFFSET: update_consumer_offset,
    Code.GET_MAX_OFFSET: max_offset,
    Code.GET_MIN_OFFSET: min_offset,
    Code.SEARCH_OFFSET_BY_TIMESTAMP: search_offset,
    Code.GET_EARLIEST_MSG_STORETIME: earliest_store_time,
    Code.QUERY_CONSUME_QUEUE: query_consume_queue,
    Code.CHECK_CLIENT_CONFIG: check_client,
    Code.GET_CONSUMER_LIST_BY_GROUP: consumers_of_group,
    Code.LOCK_BATCH_MQ: lock_batch_mq,
    Code.UNLOCK_BATCH_MQ: unlock_batch_mq,
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
    Code.VIEW_BROKER_STATS_DATA: view_statistics,
    Code.REGISTER_FILTER_SERVER: register_filter_server,
    Code.QUERY_CONSUME_TIME_SPAN: consume_time_spans,
    Code.GET_BROKER_CONSUME_STATS: all_consume_stats,
    Code.QUERY_CORRECTION_OFFSET: smallest_offsets,
    Code.RESUME_CHECK_HALF_MESSAGE: resume_check,
    Code.UPDATE_AND_CREATE_ACL_CONFIG: change_access,
    Code.DELETE_ACL_CONFIG: change_access,
    Code.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: change_access,
    Code.GET_BROKER_CLUSTER_ACL_INFO: get_access,
    Code.GET_BROKER_CLUSTER_ACL_CONFIG: get_access,
}
"""Handlers that read and change tables."""
PROCESSORS: Mapping[Code, Callable[..., object]] = {
    **SEQUENCE_HANDLERS,
    **PORT_HANDLERS,
    **HANDLERS,
}
"""Every request that a broker handles."""
