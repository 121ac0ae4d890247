"""
A response code is the result of a request; 0 is success.

Codes below 10 are the connection's (Java: RemotingSysResponseCode), the rest the
broker's and name server's (Java: ResponseCode).
"""

from __future__ import annotations

from spec.wire.remoting.released_code import ReleasedCode


class ResponseCode(ReleasedCode):
    """Result of a request, named as in Java."""

    # Remoting
    SUCCESS = 0
    SYSTEM_ERROR = 1
    SYSTEM_BUSY = 2
    REQUEST_CODE_NOT_SUPPORTED = 3
    TRANSACTION_FAILED = 4

    # 4.4 and before
    FLUSH_DISK_TIMEOUT = 10
    SLAVE_NOT_AVAILABLE = 11
    FLUSH_SLAVE_TIMEOUT = 12
    MESSAGE_ILLEGAL = 13
    SERVICE_NOT_AVAILABLE = 14
    VERSION_NOT_SUPPORTED = 15
    NO_PERMISSION = 16
    TOPIC_NOT_EXIST = 17
    TOPIC_EXIST_ALREADY = 18
    PULL_NOT_FOUND = 19
    PULL_RETRY_IMMEDIATELY = 20
    PULL_OFFSET_MOVED = 21
    QUERY_NOT_FOUND = 22
    SUBSCRIPTION_PARSE_FAILED = 23
    SUBSCRIPTION_NOT_EXIST = 24
    SUBSCRIPTION_NOT_LATEST = 25
    SUBSCRIPTION_GROUP_NOT_EXIST = 26
    FILTER_DATA_NOT_EXIST = 27
    FILTER_DATA_NOT_LATEST = 28
    TRANSACTION_SHOULD_COMMIT = 200
    TRANSACTION_SHOULD_ROLLBACK = 201
    TRANSACTION_STATE_UNKNOW = 202
    TRANSACTION_STATE_GROUP_WRONG = 203
    NO_BUYER_ID = 204
    NOT_IN_CURRENT_UNIT = 205
    CONSUMER_NOT_ONLINE = 206
    CONSUME_MSG_TIMEOUT = 207
    NO_MESSAGE = 208
    # Since 4.9.5
    FLOW_CONTROL = 215, "4.9.5"
    # Since 5.0
    RPC_TIME_OUT = -1006, "5.0"
    RPC_SEND_TO_CHANNEL_FAILED = -1004, "5.0"
    RPC_ADDR_IS_NULL = -1002, "5.0"
    RPC_UNKNOWN = -1000, "5.0"
    POLLING_FULL = 209, "5.0"
    POLLING_TIMEOUT = 210, "5.0"
    BROKER_NOT_EXIST = 211, "5.0"
    BROKER_DISPATCH_NOT_COMPLETE = 212, "5.0"
    BROADCAST_CONSUMPTION = 213, "5.0"
    NOT_LEADER_FOR_QUEUE = 501, "5.0"
    CONTROLLER_FENCED_MASTER_EPOCH = 2000, "5.0"
    CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH = 2001, "5.0"
    CONTROLLER_INVALID_MASTER = 2002, "5.0"
    CONTROLLER_INVALID_REPLICAS = 2003, "5.0"
    CONTROLLER_MASTER_NOT_AVAILABLE = 2004, "5.0"
    CONTROLLER_INVALID_REQUEST = 2005, "5.0"
    CONTROLLER_BROKER_NOT_ALIVE = 2006, "5.0"
    CONTROLLER_NOT_LEADER = 2007, "5.0"
    CONTROLLER_BROKER_METADATA_NOT_EXIST = 2008, "5.0"
    CONTROLLER_INVALID_CLEAN_BROKER_METADATA = 2009, "5.0"
    # Since 5.1.1
    ILLEGAL_OPERATION = 604, "5.1.1"
    CONTROLLER_BROKER_NEED_TO_BE_REGISTERED = 2010, "5.1.1"
    CONTROLLER_MASTER_STILL_EXIST = 2011, "5.1.1"
    CONTROLLER_ELECT_MASTER_FAILED = 2012, "5.1.1"
    CONTROLLER_ALTER_SYNC_STATE_SET_FAILED = 2013, "5.1.1"
    CONTROLLER_BROKER_ID_INVALID = 2014, "5.1.1"
    # Since 5.2
    GO_AWAY = 1500, "5.2"
    CONTROLLER_JRAFT_INTERNAL_ERROR = 2015, "5.2"
    CONTROLLER_BROKER_LIVE_INFO_NOT_EXISTS = 2016, "5.2"
    # Since 5.3
    USER_NOT_EXIST = 3001, "5.3"
    POLICY_NOT_EXIST = 3002, "5.3"
    # Since 5.3.2
    INVALID_PARAMETER = 29, "5.3.2"
    # Since 5.5
    LMQ_QUOTA_EXCEEDED = 2017, "5.5"
    LITE_SUBSCRIPTION_QUOTA_EXCEEDED = 2018, "5.5"

    # Meanings of the same codes in 4.5 to 4.9
    UPDATE_AND_CREATE_ACL_CONFIG_FAILED = 209
    DELETE_ACL_CONFIG_FAILED = 210
    UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED = 211


_KNOWN = frozenset(ResponseCode)


def response_name(code: int) -> str:
    """Return the name of *code*, or its number where no release names it."""
    return ResponseCode(code).name if code in _KNOWN else str(code)


SEE_FAQ = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
"""End of many remarks (Java: FAQUrl#suggestTodo)."""
