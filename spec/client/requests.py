"""
Requests of brokers to clients, mostly oneway, over the connection of the client.

An administrator sends them through a broker to the clients of a group: to reset
offsets, to report their status, or to consume one message. A reply goes to the client
that made the request.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_PROCESSOR = "4.6.0 org.apache.rocketmq.client.impl.ClientRemotingProcessor"

NO_REPLY_CODE = 10006
"""Code of the error for a request without a reply; never on the wire."""
REPLY = "reply"
"""The property MSG_TYPE of a reply."""
REST_BEFORE_RESET_MS = 10_000
"""Pause of queues whose offsets are reset, in which running requests may end."""

UNKNOWN = Clause(
    id="CLIENT-ADMIN-001",
    level=Level.MUST,
    text=(
        "A client answers a request with an unknown code with "
        "REQUEST_CODE_NOT_SUPPORTED (3), and keeps the connection."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#processRequestCommand",
)
RESET = Clause(
    id="CLIENT-ADMIN-002",
    level=Level.MUST,
    text=(
        "On RESET_CONSUMER_CLIENT_OFFSET (220) a consumer drops the messages of the "
        "body's queues, commits its offsets after 10 seconds and continues there. It "
        "sends no response."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.factory.MQClientInstance#resetOffset",
    issues=("apache/rocketmq-client-go#759",),
)
RETURNS_OFFSETS = Clause(
    id="CLIENT-ADMIN-003",
    level=Level.MUST,
    text=(
        "A consumer answers GET_CONSUMER_STATUS_FROM_CLIENT (221) with its offsets "
        "of the topic's queues; for a group without a consumer here, with none."
    ),
    source=f"{_PROCESSOR}#getConsumeStatus",
)
RETURNS_RUNNING_INFO = Clause(
    id="CLIENT-ADMIN-004",
    level=Level.MUST,
    text=(
        "A consumer answers GET_CONSUMER_RUNNING_INFO (307) with its settings, "
        "subscriptions and queues; for a group without a consumer here, with "
        "SYSTEM_ERROR (1)."
    ),
    source=f"{_PROCESSOR}#getConsumerRunningInfo",
)
CONSUMES_AT_ONCE = Clause(
    id="CLIENT-ADMIN-005",
    level=Level.MUST,
    text=(
        "A consumer consumes the message of CONSUME_MESSAGE_DIRECTLY (309) and "
        "answers with CR_SUCCESS, CR_LATER or CR_THROW_EXCEPTION; for a group "
        "without a consumer here, with SYSTEM_ERROR (1)."
    ),
    source=f"{_PROCESSOR}#consumeMessageDirectly",
)
TAKES_REPLIES = Clause(
    id="CLIENT-REQUESTREPLY-001",
    level=Level.MUST,
    text=(
        "A producer answers PUSH_REPLY_MESSAGE_TO_CLIENT (326) with SUCCESS (0), and "
        "hands the reply to the request with the same CORRELATION_ID if one waits."
    ),
    source=f"{_PROCESSOR}#receiveReplyMessage",
    since="4.6",
)
REQUEST_PROPERTIES = Clause(
    id="CLIENT-REQUESTREPLY-002",
    level=Level.MUST,
    text=(
        "A request is a message with an id of its own in CORRELATION_ID, the "
        "client's id in REPLY_TO_CLIENT and its timeout in milliseconds in TTL."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
    "#prepareSendRequest",
    since="4.6",
)
WAITS_SO_LONG = Clause(
    id="CLIENT-REQUESTREPLY-004",
    level=Level.MUST,
    text=(
        "A request without a reply within its TTL ends with an error (Java: "
        "RequestTimeoutException, code 10006). A reply that arrives before the "
        "send's response counts."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
    "#request",
    since="4.6",
    issues=("apache/rocketmq#9319",),
)
NOT_SENT = Clause(
    id="CLIENT-REQUESTREPLY-005",
    level=Level.MUST,
    text=(
        "A request whose message cannot be sent, after the attempts of an "
        "asynchronous send, ends immediately with an error."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
    "#request",
    since="4.6",
)
BEATS_FIRST = Clause(
    id="CLIENT-REQUESTREPLY-006",
    level=Level.MUST,
    text=(
        "Before a request to a topic without a route, a producer requests the route "
        "and sends heartbeats to its brokers, so that they can route the reply."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
    "#prepareSendRequest",
    since="4.6",
)
SENDS_REPLY = Clause(
    id="CLIENT-REQUESTREPLY-007",
    level=Level.MUST,
    text=(
        "A reply is sent with SEND_REPLY_MESSAGE_V2 (325) to the topic "
        "CLUSTER_REPLY_TOPIC of the request's property CLUSTER. It has the request's "
        "CORRELATION_ID, REPLY_TO_CLIENT and TTL, and MSG_TYPE reply."
    ),
    source="4.6.0 org.apache.rocketmq.client.utils.MessageUtil#createReplyMessage",
    since="4.6",
)
DIRECTLY_IS_APART = Clause(
    id="CLIENT-ADMIN-006",
    level=Level.MUST,
    text=(
        "After CONSUME_MESSAGE_DIRECTLY (309) a consumer only responds: it sends no "
        "message back and commits no offset for it."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer."
    "ConsumeMessageConcurrentlyService#consumeMessageDirectly",
)
HOSTS_OF_REPLIES = Clause(
    id="CLIENT-REQUESTREPLY-003",
    level=Level.SHOULD,
    text=(
        "A producer accepts a reply whose hosts have a solidus before the address, "
        "as brokers up to 4.9.3 write them (SEND-REPLY-006), even if no request "
        "waits for it."
    ),
    source=f"{_PROCESSOR}#processReplyMessage",
    since="4.6",
)
