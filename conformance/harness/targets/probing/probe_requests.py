"""
Requests that show which request codes a peer supports.

Most lack required fields, so that a peer that supports the code refuses the fields.
None may change state, even where a peer ignores missing fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from spec.wire.remoting.request_code import RequestCode

NONSENSE = "rmqc_probe_that_is_not_there"
NONSENSE_CODE = 300_017
FAR_AWAY = 1 << 40
"""An offset beyond any log."""
Fields: TypeAlias = Mapping[str, str | int | bool | None]
ProbeRequests: TypeAlias = Mapping[int, Fields]

_NOTHING: Fields = {}
_BROKER_QUERIES = (
    RequestCode.PULL_MESSAGE,
    RequestCode.QUERY_MESSAGE,
    RequestCode.QUERY_CONSUMER_OFFSET,
    RequestCode.GET_ALL_TOPIC_CONFIG,
    RequestCode.GET_BROKER_CONFIG,
    RequestCode.GET_BROKER_RUNTIME_INFO,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
    RequestCode.GET_MAX_OFFSET,
    RequestCode.GET_MIN_OFFSET,
    RequestCode.GET_EARLIEST_MSG_STORETIME,
    RequestCode.VIEW_MESSAGE_BY_ID,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP,
    RequestCode.GET_ALL_CONSUMER_OFFSET,
    RequestCode.GET_ALL_DELAY_OFFSET,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    RequestCode.GET_TOPIC_STATS_INFO,
    RequestCode.GET_CONSUMER_CONNECTION_LIST,
    RequestCode.GET_PRODUCER_CONNECTION_LIST,
    RequestCode.GET_CONSUME_STATS,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO,
    RequestCode.QUERY_CONSUME_TIME_SPAN,
    RequestCode.VIEW_BROKER_STATS_DATA,
    RequestCode.QUERY_CONSUME_QUEUE,
)
_NAME_SERVER_QUERIES = (
    RequestCode.GET_KV_CONFIG,
    RequestCode.GET_ROUTEINFO_BY_TOPIC,
    RequestCode.GET_BROKER_CLUSTER_INFO,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
    RequestCode.GET_KVLIST_BY_NAMESPACE,
    RequestCode.GET_TOPICS_BY_CLUSTER,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS,
)
_UNKNOWN_TRANSACTION: Fields = {
    "producerGroup": NONSENSE,
    "tranStateTableOffset": FAR_AWAY,
    "commitLogOffset": FAR_AWAY,
    "commitOrRollback": 0,
    "fromTransactionCheck": False,
    "msgId": NONSENSE,
    "transactionId": NONSENSE,
}
OF_NAME_SERVER: ProbeRequests = dict.fromkeys(_NAME_SERVER_QUERIES, _NOTHING)
OF_BROKER: ProbeRequests = {
    **dict.fromkeys(_BROKER_QUERIES, _NOTHING),
    RequestCode.END_TRANSACTION: _UNKNOWN_TRANSACTION,
}


def bare(codes: Iterable[int]) -> ProbeRequests:
    """Return requests with *codes* and no fields."""
    return dict.fromkeys(codes, _NOTHING)
