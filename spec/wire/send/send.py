"""
A producer sends a message, or a batch, to one queue of a topic on one broker.

There are two spellings of the request header, whole names and letters, and one
response. What the broker stores of the header is here; ``send_limits``, ``send_topic``
and ``send_batch`` have the checks, ``spec.store.message_record`` the record.
"""

from __future__ import annotations

from types import MappingProxyType

from spec.clause import Clause, Level

_SEND = "4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"
_CHECK = (
    "4.6.0 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor#msgCheck"
)
_APPEND = (
    "4.6.0 org.apache.rocketmq.store.CommitLog$DefaultAppendMessageCallback#doAppend"
)

LETTERS = MappingProxyType(
    {
        "producerGroup": "a",
        "topic": "b",
        "defaultTopic": "c",
        "defaultTopicQueueNums": "d",
        "queueId": "e",
        "sysFlag": "f",
        "bornTimestamp": "g",
        "flag": "h",
        "properties": "i",
        "reconsumeTimes": "j",
        "unitMode": "k",
        "maxReconsumeTimes": "l",
        "batch": "m",
    }
)
"""Header fields of SEND_MESSAGE, and their letters in the two other send codes."""
SEND_RESPONSE_FIELDS = ("msgId", "queueId", "queueOffset")
RESPONSE = Clause(
    id="SEND-RESPONSE-001",
    level=Level.MUST,
    text="The response to a send has the message's id, queue id and queue offset.",
    source=f"{_SEND}#handlePutMessageResult",
)
RESPONSE_ID = Clause(
    id="SEND-RESPONSE-002",
    level=Level.MUST,
    text="The id in the response to a send is that of the stored record.",
    source=_APPEND,
)
RESPONSE_OFFSETS = Clause(
    id="SEND-RESPONSE-003",
    level=Level.MUST,
    text="Messages sent to a queue one after the other get queue offsets 0, 1, 2 and so"
    " on.",
    source=_APPEND,
    issues=(
        "apache/rocketmq#7689",
        "apache/rocketmq#7690",
        "apache/rocketmq#7511",
        "apache/rocketmq#8693",
    ),
)
RESPONSE_REGION = Clause(
    id="SEND-RESPONSE-004",
    level=Level.SHOULD,
    text=(
        "The response to a send has the broker's region, which is not empty, in "
        "MSG_REGION, and its trace setting in TRACE_ON."
    ),
    source=f"{_SEND}#sendMessage",
)
REFUSAL_REGION = Clause(
    id="SEND-RESPONSE-006",
    level=Level.SHOULD,
    text=(
        "An error response to a send has the broker's region, which is not empty, in "
        "MSG_REGION, and its trace setting in TRACE_ON."
    ),
    source=f"{_SEND}#sendMessage",
)
QUEUE_IS_CHOSEN = Clause(
    id="SEND-QUEUE-001",
    level=Level.MUST,
    text=(
        "A message sent to a negative queue id is stored in a queue that the broker "
        "chooses and the response names."
    ),
    source=f"{_SEND}#sendMessage",
)
QUEUE_TOO_HIGH = Clause(
    id="SEND-QUEUE-002",
    level=Level.MUST,
    text=(
        "Up to 5.3.1, a message sent to a queue that its topic does not have is "
        "refused with SYSTEM_ERROR (1)."
    ),
    source=_CHECK,
    until="5.3.1",
)
QUEUE_TOO_HIGH_IS_INVALID = Clause(
    id="SEND-QUEUE-003",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, a message sent to a queue that its topic does not have is "
        "refused with INVALID_PARAMETER (29)."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor"
    "#msgCheck",
    since="5.3.2",
)
READ_ONLY_QUEUE = Clause(
    id="SEND-QUEUE-004",
    level=Level.QUIRK,
    text="A queue id is checked against the larger of a topic's read and write counts.",
    source=_CHECK,
)
BOTH_SPELLINGS = Clause(
    id="SEND-HEADER-001",
    level=Level.MUST,
    text=(
        "SEND_MESSAGE (10) with whole names and SEND_MESSAGE_V2 (310) with letters "
        "store the same record."
    ),
    source="4.6.0 org.apache.rocketmq.common.protocol.header.SendMessageRequestHeaderV2"
    "#createSendMessageRequestHeaderV1",
)
NO_PROPERTIES = Clause(
    id="SEND-HEADER-002",
    level=Level.MUST,
    text="A send without a properties field is a message without properties of its"
    " own.",
    source="4.6.0 org.apache.rocketmq.common.message.MessageDecoder"
    "#string2messageProperties",
)
PROPERTIES_REACH_CONSUMER = Clause(
    id="SEND-PROPS-001",
    level=Level.MUST,
    text="A consumer gets every property that the producer sent, name and value, in any"
    " script.",
    source=f"{_SEND}#sendMessage",
)
CLUSTER_IS_ADDED = Clause(
    id="SEND-PROPS-003",
    level=Level.MUST,
    text=(
        "From 4.6 on, a broker adds the property CLUSTER, its cluster's name, to a "
        "message."
    ),
    source=f"{_SEND}#sendMessage",
    since="4.6",
    issues=("apache/rocketmq#3476",),
)
UNIQUE_KEY_IS_ADDED = Clause(
    id="SEND-PROPS-004",
    level=Level.MUST,
    text="From 5.0 on, a broker adds a UNIQ_KEY to a message without one.",
    source="5.3.3 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#sendMessage",
    since="5.0",
)
REGION_IS_ADDED = Clause(
    id="SEND-PROPS-005",
    level=Level.SHOULD,
    text=(
        "From 5.0 on, a broker adds MSG_REGION, its region, and TRACE_ON, its trace "
        "setting, to the properties of a message."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor"
    "#buildMsgContext",
    since="5.0",
)
PRODUCERS_FLAG = Clause(
    id="SEND-FLAG-001",
    level=Level.MUST,
    text="The producer's flag reaches the consumer unchanged, with any 32 bits.",
    source=f"{_SEND}#sendMessage",
)
SYSTEM_FLAGS = Clause(
    id="SEND-FLAG-002",
    level=Level.MUST,
    text=(
        "The compression bits of the system flags reach the consumer, and the broker "
        "neither compresses nor decompresses the body."
    ),
    source=f"{_SEND}#sendMessage",
)
BORN_TIME = Clause(
    id="SEND-TIME-001",
    level=Level.MUST,
    text="A record's born time is the request's bornTimestamp, with any value.",
    source=f"{_SEND}#sendMessage",
)
STORE_TIME = Clause(
    id="SEND-TIME-002",
    level=Level.MUST,
    text="The store times of a queue's records never decrease.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
BORN_HOST = Clause(
    id="SEND-HOST-001",
    level=Level.MUST,
    text="A record's born host is the remote address of the producer's connection.",
    source=f"{_SEND}#sendMessage",
)
STORE_HOST = Clause(
    id="SEND-HOST-002",
    level=Level.MUST,
    text="A record's store host is the host in its message's id.",
    source="4.6.0 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor"
    "#storeHost",
)
RECONSUME_TIMES = Clause(
    id="SEND-RETRY-001",
    level=Level.MUST,
    text="A record's reconsumeTimes is the request's, 0 if absent.",
    source=f"{_SEND}#sendMessage",
)
ONEWAY_SEND = Clause(
    id="SEND-ONEWAY-001",
    level=Level.MUST,
    text="A message sent oneway is stored like any other.",
    source=f"{_SEND}#handlePutMessageResult",
)
CODES = Clause(
    id="SEND-HEADER-003",
    level=Level.MUST,
    text=(
        "A message is sent by SEND_MESSAGE (10) with whole names or SEND_MESSAGE_V2 "
        "(310) with letters, a batch by SEND_BATCH_MESSAGE (320) with letters."
    ),
    source="4.6.0 org.apache.rocketmq.common.protocol.RequestCode#SEND_MESSAGE_V2",
)
LETTERS_MEAN = Clause(
    id="SEND-HEADER-004",
    level=Level.MUST,
    text="The letters a to m are producerGroup, topic, defaultTopic,"
    " defaultTopicQueueNums, queueId, sysFlag, bornTimestamp, flag, properties,"
    " reconsumeTimes, unitMode, maxReconsumeTimes and batch.",
    source="4.6.0 org.apache.rocketmq.common.protocol.header.SendMessageRequestHeaderV2"
    "#createSendMessageRequestHeaderV1",
)
MANY_TAGS = Clause(
    id="SEND-FLAG-003",
    level=Level.MUST,
    text=(
        "A message to a topic of the filter type MULTI_TAG has MULTI_TAGS_FLAG (2) "
        "in its system flags; a message to a topic of SINGLE_TAG, the default, does "
        "not."
    ),
    source=f"{_SEND}#handleRetryAndDLQ",
)
