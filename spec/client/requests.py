"""
What brokers ask of clients: mostly oneway, over the connection that the client made.

Administrators ask brokers, and these the clients of a group: to go on elsewhere, to say
how far they are, to handle one message now. A reply goes to whoever made the request.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_PROCESSOR = "4.6.0 org.apache.rocketmq.client.impl.ClientRemotingProcessor"

NO_REPLY_CODE = 10006
"""What an application is told whose request got no reply; never on the wire."""
REPLY = "reply"
"""The property MSG_TYPE of a reply."""
REPLY_TOPIC_END = "_REPLY_TOPIC"
"""What follows the cluster's name in the topic of its replies."""
REST_BEFORE_RESET_MS = 10_000
"""How long queues rest whose offsets are reset: what is under way may end."""

UNKNOWN = Clause(
    id="CLIENT-REQUEST-001",
    level=Level.MUST,
    text="A client answers a request with a code that it does not know with"
    " REQUEST_CODE_NOT_SUPPORTED (3), and keeps the connection.",
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#processRequestCommand",
)
RESET = Clause(
    id="CLIENT-REQUEST-002",
    level=Level.MUST,
    text="A consumer that is sent RESET_CONSUMER_CLIENT_OFFSET (220) drops what it has"
    " of the queues that the body names, commits the offsets that it gives after 10"
    " seconds, and goes on there; it answers nothing.",
    source="4.6.0 org.apache.rocketmq.client.impl.factory.MQClientInstance#resetOffset",
    issues=("apache/rocketmq-client-go#759",),
)
TELLS_OFFSETS = Clause(
    id="CLIENT-REQUEST-003",
    level=Level.MUST,
    text="A consumer answers GET_CONSUMER_STATUS_FROM_CLIENT (221) with the offsets to"
    " which it has come in its queues of the topic; for a group that it is not in, with"
    " none.",
    source=f"{_PROCESSOR}#getConsumeStatus",
)
TELLS_ITS_STATE = Clause(
    id="CLIENT-REQUEST-004",
    level=Level.MUST,
    text="A consumer answers GET_CONSUMER_RUNNING_INFO (307) with its settings, its"
    " subscriptions and its queues; for a group that it is not in, with SYSTEM_ERROR"
    " (1).",
    source=f"{_PROCESSOR}#getConsumerRunningInfo",
)
CONSUMES_AT_ONCE = Clause(
    id="CLIENT-REQUEST-005",
    level=Level.MUST,
    text="A consumer hands the message of CONSUME_MESSAGE_DIRECTLY (309) to its"
    " application and answers with what came of it: CR_SUCCESS, CR_LATER, or"
    " CR_THROW_EXCEPTION; for a group that it is not in, with SYSTEM_ERROR (1).",
    source=f"{_PROCESSOR}#consumeMessageDirectly",
)
TAKES_REPLIES = Clause(
    id="CLIENT-REQUEST-006",
    level=Level.MUST,
    text="A producer answers PUSH_REPLY_MESSAGE_TO_CLIENT (326) with SUCCESS (0),"
    " whether or not somebody waits for the reply, and hands it to whoever sent the"
    " request that has the same CORRELATION_ID.",
    source=f"{_PROCESSOR}#receiveReplyMessage",
    since="4.6",
)
ASKS_FOR_REPLY = Clause(
    id="CLIENT-REQUEST-007",
    level=Level.MUST,
    text="A request is a message with an id of its own in CORRELATION_ID, the client's"
    " id in REPLY_TO_CLIENT and the milliseconds that it waits in TTL.",
    source="4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
    "#prepareSendRequest",
    since="4.6",
)
WAITS_SO_LONG = Clause(
    id="CLIENT-REQUEST-010",
    level=Level.MUST,
    text="A request that was sent and not replied to in the time that TTL names ends"
    " with an error (Java: RequestTimeoutException with the code 10006); a reply that"
    " comes before the answer to the send is a reply all the same.",
    source="4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
    "#request",
    since="4.6",
    issues=("apache/rocketmq#9319",),
)
NOT_SENT = Clause(
    id="CLIENT-REQUEST-011",
    level=Level.MUST,
    text="A request whose message cannot be sent, after the attempts of an asynchronous"
    " send, ends at once with an error.",
    source="4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
    "#request",
    since="4.6",
)
BEATS_FIRST = Clause(
    id="CLIENT-REQUEST-012",
    level=Level.MUST,
    text="Before a request to a topic whose route it has not, a producer asks for it"
    " and sends heartbeats to the brokers, which know by them where a reply goes.",
    source="4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
    "#prepareSendRequest",
    since="4.6",
)
SENDS_REPLY = Clause(
    id="CLIENT-REQUEST-013",
    level=Level.MUST,
    text="A reply is sent with SEND_REPLY_MESSAGE_V2 (325), to the topic that the"
    " request's property CLUSTER with _REPLY_TOPIC appended names; it has the request's"
    " CORRELATION_ID, REPLY_TO_CLIENT and TTL, and MSG_TYPE reply.",
    source="4.6.0 org.apache.rocketmq.client.utils.MessageUtil#createReplyMessage",
    since="4.6",
)
DIRECTLY_IS_APART = Clause(
    id="CLIENT-REQUEST-008",
    level=Level.MUST,
    text="What came of a message that CONSUME_MESSAGE_DIRECTLY (309) handed over is"
    " only answered: it goes back to no broker, and no offset is committed for it.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer."
    "ConsumeMessageConcurrentlyService#consumeMessageDirectly",
)
HOSTS_OF_REPLIES = Clause(
    id="CLIENT-REQUEST-009",
    level=Level.SHOULD,
    text="A producer also takes a reply whose hosts have a solidus before the address,"
    " as brokers before 4.9.3 write them (SEND-REPLY-006), and for which nobody waits.",
    source=f"{_PROCESSOR}#processReplyMessage",
    since="4.6",
)
