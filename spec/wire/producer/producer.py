"""
A producer validates a message before it sends it, and makes the request.

These clauses are about clients. They guarantee properties of requests to the author of
a broker, and are the duties of the author of a client. The choice of a queue is in
``select_queue``, retries are in ``retry``.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_PRODUCER = "4.6.0 org.apache.rocketmq.client.producer.DefaultMQProducer"
_SENDER = "4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
_REQUESTS = "4.6.0 org.apache.rocketmq.client.impl.MQClientAPIImpl"
_CHECKS = "4.6.0 org.apache.rocketmq.client.Validators"
_LATER_CHECKS = "4.9.7 org.apache.rocketmq.client.Validators"

SEND_TIMEOUT_MS = 3000
COMPRESS_FROM_SIZE = 4096
QUEUES_OF_A_NEW_TOPIC = 4

RUNNING = Clause(
    id="CLIENT-VALIDATE-001",
    level=Level.MUST,
    text="A producer that was not started, or was shut down, sends nothing and fails.",
    source=f"{_SENDER}#makeSureStateOK",
)
EMPTY_BODY_IS_NOT_SENT = Clause(
    id="CLIENT-VALIDATE-002",
    level=Level.MUST,
    text="A producer refuses a message without a body, or with an empty one, with"
    " MESSAGE_ILLEGAL (13) and sends nothing.",
    source=f"{_CHECKS}#checkMessage",
)
LARGE_BODY_IS_NOT_SENT = Clause(
    id="CLIENT-VALIDATE-003",
    level=Level.MUST,
    text=(
        "A producer refuses a body of more than maxMessageSize bytes, 4,194,304 by "
        "default, with MESSAGE_ILLEGAL (13) before compression and sends nothing."
    ),
    source=f"{_CHECKS}#checkMessage",
)
TOPIC_CHARACTERS = Clause(
    id="CLIENT-VALIDATE-004",
    level=Level.MUST,
    text=(
        "A producer refuses a blank topic, and a topic with characters other than "
        "letters, digits, %, |, - and _."
    ),
    source=f"{_CHECKS}#checkTopic",
)
TOPIC_LENGTH = Clause(
    id="CLIENT-VALIDATE-005",
    level=Level.QUIRK,
    text=(
        "Up to 4.6.0, a producer accepts a topic of up to 255 characters, though "
        "brokers store 127 at most."
    ),
    source=f"{_CHECKS}#CHARACTER_MAX_LENGTH",
    until="4.6.0",
    hints=(("255", "is the limit that of an unsigned byte?"),),
)
TOPIC_LENGTH_LATER = Clause(
    id="CLIENT-VALIDATE-006",
    level=Level.MUST,
    text="From 4.6.1 on, a producer refuses a topic of more than 127 characters.",
    source=f"{_LATER_CHECKS}#TOPIC_MAX_LENGTH",
    since="4.6.1",
)
DEFAULT_TOPIC_IS_NOT_SENT_TO = Clause(
    id="CLIENT-VALIDATE-007",
    level=Level.MUST,
    text="Up to 4.7.0, a producer refuses to send to the topic TBW102.",
    source=f"{_CHECKS}#checkTopic",
    until="4.7.0",
)
TIMEOUT = Clause(
    id="CLIENT-SEND-001",
    level=Level.MUST,
    text=(
        "A send without a timeout fails 3000 ms after the call, all of its retries "
        "included."
    ),
    source=f"{_PRODUCER}#sendMsgTimeout",
)
UNIQUE_KEY = Clause(
    id="CLIENT-SEND-002",
    level=Level.MUST,
    text=(
        "A producer sets the property UNIQ_KEY of a message, or of each message of a "
        "batch, before the send and keeps it in a retry."
    ),
    source=f"{_SENDER}#sendKernelImpl",
)
COMPRESSED = Clause(
    id="CLIENT-SEND-003",
    level=Level.MUST,
    text=(
        "A producer sends a body of 4096 bytes or more as a zlib stream with "
        "COMPRESSED_FLAG (1) set."
    ),
    source=f"{_SENDER}#tryToCompressMessage",
    hints=(("4096 sent as it is", "is the limit more than 4 KB?"),),
    issues=("apache/rocketmq-clients#667",),
)
BATCH_IS_NOT_COMPRESSED = Clause(
    id="CLIENT-SEND-004",
    level=Level.MUST,
    text="A producer never compresses a batch.",
    source=f"{_SENDER}#tryToCompressMessage",
)
BODY_IS_GIVEN_BACK = Clause(
    id="CLIENT-SEND-005",
    level=Level.MUST,
    text="After a send the caller's message has its original, uncompressed body.",
    source=f"{_SENDER}#sendKernelImpl",
    issues=("apache/rocketmq-externals#66",),
)
HALF_FLAG = Clause(
    id="CLIENT-SEND-006",
    level=Level.MUST,
    text=(
        "A message whose property TRAN_MSG is true is sent with "
        "TRANSACTION_PREPARED_TYPE (4) in its system flags."
    ),
    source=f"{_SENDER}#sendKernelImpl",
)
HEADER = Clause(
    id="CLIENT-SEND-007",
    level=Level.MUST,
    text=(
        "A send's header has producer group, topic, default topic TBW102 and 4 "
        "queues for it, queue id, system flags, born timestamp, flag, properties, "
        "reconsumeTimes 0, unitMode and batch."
    ),
    source=f"{_SENDER}#sendKernelImpl",
)
RETRY_COUNTS_ARE_COPIED = Clause(
    id="CLIENT-SEND-008",
    level=Level.MUST,
    text=(
        "A message to a topic that begins with %RETRY% has its properties "
        "RECONSUME_TIME and MAX_RECONSUME_TIMES copied to the header fields "
        "reconsumeTimes and maxReconsumeTimes."
    ),
    source=f"{_SENDER}#sendKernelImpl",
    hints=(
        (
            "RECONSUME_TIME",
            "are both removed from the properties? The release removes them from the"
            " message when their text is in the request already",
        ),
    ),
)
CODE = Clause(
    id="CLIENT-SEND-009",
    level=Level.MUST,
    text=(
        "A producer sends SEND_MESSAGE_V2 (310), or SEND_BATCH_MESSAGE (320) for a "
        "batch. Only with org.apache.rocketmq.client.sendSmartMsg=false does it send "
        "SEND_MESSAGE (10)."
    ),
    source=f"{_REQUESTS}#sendSmartMsg",
    hints=(("10", "the release sends SEND_MESSAGE only with sendSmartMsg=false"),),
)
VIP_PORT = Clause(
    id="CLIENT-SEND-010",
    level=Level.MUST,
    text=(
        "With vipChannelEnabled a producer sends to the broker's port minus two. In "
        "Java, the retry of an asynchronous send goes to the broker's own port."
    ),
    source="4.6.0 org.apache.rocketmq.common.MixAll#brokerVIPChannel",
    issues=("apache/rocketmq#10289", "apache/rocketmq#568"),
)
VIP_PORT_BY_DEFAULT = Clause(
    id="CLIENT-SEND-011",
    level=Level.QUIRK,
    text=(
        "In 4.4, a producer sends to the broker's port minus two unless "
        "com.rocketmq.sendMessageWithVIPChannel is false."
    ),
    source="4.4.0 org.apache.rocketmq.client.ClientConfig#vipChannelEnabled",
    until="4.4",
    issues=("apache/rocketmq#568",),
)
UNDER_WAY = Clause(
    id="CLIENT-SEND-012",
    level=Level.SHOULD,
    text=(
        "A client has at most 65,535 asynchronous and 65,535 oneway requests in "
        "flight; one more waits, and fails at its timeout."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettySystemConfig"
    "#CLIENT_ASYNC_SEMAPHORE_VALUE",
)
RESULT = Clause(
    id="CLIENT-SENDRESULT-001",
    level=Level.MUST,
    text=(
        "The codes SUCCESS (0), FLUSH_DISK_TIMEOUT (10), SLAVE_NOT_AVAILABLE (11) "
        "and FLUSH_SLAVE_TIMEOUT (12) make a SendResult; every other code is an "
        "error."
    ),
    source=f"{_REQUESTS}#processSendResponse",
)
RESULT_IDS = Clause(
    id="CLIENT-SENDRESULT-002",
    level=Level.QUIRK,
    text=(
        "The msgId of a SendResult is the UNIQ_KEY that the client made; its "
        "offsetMsgId is the response's msgId."
    ),
    source=f"{_REQUESTS}#processSendResponse",
)
LATE_RESPONSE = Clause(
    id="CLIENT-SENDRESULT-003",
    level=Level.SHOULD,
    text=(
        "A response that arrives before the timeout is the result, even in its last "
        "millisecond."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#scanResponseTable",
    issues=("apache/rocketmq#10575",),
)
GOES_AWAY = Clause(
    id="CLIENT-RETRY-016",
    level=Level.SHOULD,
    text=(
        "From 5.3.2 on, a client that receives GO_AWAY (1500) retries once on a new "
        "connection to the same address; a second GO_AWAY counts as a connection "
        "failure."
    ),
    source="5.3.3 org.apache.rocketmq.remoting.netty.NettyRemotingClient#invokeImpl",
    since="5.3.2",
)
BATCH_IS_UNIFORM = Clause(
    id="CLIENT-BATCH-001",
    level=Level.MUST,
    text=(
        "A producer refuses a batch that is empty, has two topics, a retry topic or "
        "a delayed message, or mixes values of WAIT."
    ),
    source="4.6.0 org.apache.rocketmq.common.message.MessageBatch#generateFromList",
)
