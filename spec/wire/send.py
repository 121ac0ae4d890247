"""
A producer sends a message, or a batch, to one queue of a topic on one broker.

There are two spellings of the request header, whole names and letters, and one
answer. What the broker checks, and what it stores of the header, is here; the
record it writes is ``spec.store.message_record``.
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
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
_VALIDATOR = "5.3.3 org.apache.rocketmq.common.topic.TopicValidator#validateTopic"

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
        "consumeRetryTimes": "l",
        "batch": "m",
    }
)
"""Header fields of SEND_MESSAGE, and their letters in the two other send codes."""
ANSWER_FIELDS = ("msgId", "queueId", "queueOffset")
TOPIC_SIZE_MAX = 127
PROPERTIES_SIZE_MAX = 32_767
MESSAGE_SIZE_MAX = 4_194_304
"""The default of the setting maxMessageSize, in bytes."""
DEFAULT_TOPIC = "TBW102"
"""The topic whose settings a topic inherits that is created by sending to it."""
DEFAULT_QUEUE_COUNT = 8
"""Queues of the default topic: an inherited topic has no more."""

ANSWER = Clause(
    id="SEND-ANSWER-001",
    level=Level.MUST,
    text="The answer to a send names the message's id, its queue and its queue offset.",
    source=f"{_SEND}#handlePutMessageResult",
)
ANSWER_ID = Clause(
    id="SEND-ANSWER-002",
    level=Level.MUST,
    text="The id in the answer to a send is that of the record that was stored.",
    source=_APPEND,
)
ANSWER_OFFSETS = Clause(
    id="SEND-ANSWER-003",
    level=Level.MUST,
    text="Messages sent to a queue one after the other get queue offsets 0, 1, 2 and so"
    " on.",
    source=_APPEND,
    issues=("apache/rocketmq#7689",),
)
ANSWER_REGION = Clause(
    id="SEND-ANSWER-004",
    level=Level.SHOULD,
    text="The answer to a send says the broker's region (MSG_REGION) and whether it"
    " traces (TRACE_ON).",
    source=f"{_SEND}#sendMessage",
)
ANY_QUEUE = Clause(
    id="SEND-QUEUE-001",
    level=Level.MUST,
    text="A message sent to a negative queue id is stored in a queue of the broker's"
    " choice, which the answer names.",
    source=f"{_SEND}#sendMessage",
)
QUEUE_TOO_HIGH = Clause(
    id="SEND-QUEUE-002",
    level=Level.MUST,
    text="A message sent to a queue that its topic does not have is refused with"
    " SYSTEM_ERROR (1).",
    source=_CHECK,
    until="5.3.1",
)
QUEUE_TOO_HIGH_IS_INVALID = Clause(
    id="SEND-QUEUE-003",
    level=Level.MUST,
    text="A message sent to a queue that its topic does not have is refused with"
    " INVALID_PARAMETER (29).",
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
    text="SEND_MESSAGE with whole names and SEND_MESSAGE_V2 with letters store the"
    " same.",
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
BODY = Clause(
    id="SEND-BODY-001",
    level=Level.MUST,
    text="A consumer gets the bytes of the body that the producer sent.",
    source=_APPEND,
)
EMPTY_BODY = Clause(
    id="SEND-BODY-002",
    level=Level.QUIRK,
    text="A broker takes a message with an empty body, which no client sends.",
    source=_APPEND,
    until="4.6",
)
EMPTY_BODY_REFUSED = Clause(
    id="SEND-BODY-003",
    level=Level.MUST,
    text="A message with an empty body is refused with an error.",
    source="5.3.3 org.apache.rocketmq.broker.util.HookUtils#checkBeforePutMessage",
    since="5.0",
)
RECORD_TOO_LARGE = Clause(
    id="SEND-BODY-004",
    level=Level.MUST,
    text="A message whose whole record has more than 4,194,304 bytes is refused with"
    " MESSAGE_ILLEGAL (13), the next smaller one is stored.",
    source=f"{_APPEND}",
    until="4.9.3",
)
BODY_TOO_LARGE = Clause(
    id="SEND-BODY-005",
    level=Level.MUST,
    text="A message whose body has more than 4,194,304 bytes is refused with"
    " MESSAGE_ILLEGAL (13), the next smaller one is stored.",
    source="4.9.7 org.apache.rocketmq.store.CommitLog$MessageExtEncoder#encode",
    since="4.9.4",
)
PROPERTIES_REACH_CONSUMER = Clause(
    id="SEND-PROPS-001",
    level=Level.MUST,
    text="A consumer gets every property that the producer sent, name and value, in any"
    " script.",
    source=f"{_SEND}#sendMessage",
)
PROPERTIES_TOO_LONG = Clause(
    id="SEND-PROPS-002",
    level=Level.MUST,
    text="A message whose properties as stored have more than 32,767 bytes is refused"
    " with MESSAGE_ILLEGAL (13), the next shorter ones are stored.",
    source=f"{_APPEND}",
    issues=("apache/rocketmq#3786",),
)
CLUSTER_IS_ADDED = Clause(
    id="SEND-PROPS-003",
    level=Level.MUST,
    text="A broker adds the property CLUSTER, its cluster's name, to a message.",
    source=f"{_SEND}#sendMessage",
    since="4.5",
    issues=("apache/rocketmq#3476",),
)
UNIQUE_KEY_IS_ADDED = Clause(
    id="SEND-PROPS-004",
    level=Level.MUST,
    text="A broker gives a message without a UNIQ_KEY property one.",
    source="5.3.3 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#sendMessage",
    since="5.0",
)
LONGEST_TOPIC = Clause(
    id="SEND-TOPIC-001",
    level=Level.MUST,
    text="A topic's name may have 127 bytes.",
    source=f"{_STORE}#putMessage",
    issues=("apache/rocketmq#1110",),
)
TOPIC_TOO_LONG = Clause(
    id="SEND-TOPIC-002",
    level=Level.MUST,
    text="A message to a topic whose name has more than 127 characters is refused with"
    " MESSAGE_ILLEGAL (13).",
    source=f"{_STORE}#putMessage",
    until="4.6.0",
)
TOPIC_TOO_LONG_IS_ERROR = Clause(
    id="SEND-TOPIC-003",
    level=Level.MUST,
    text="A message to a topic whose name has more than 127 characters is refused with"
    " SYSTEM_ERROR (1).",
    source="4.9.7 org.apache.rocketmq.common.topic.TopicValidator#validateTopic",
    since="4.6.1",
    until="5.3.1",
)
TOPIC_TOO_LONG_IS_INVALID = Clause(
    id="SEND-TOPIC-004",
    level=Level.MUST,
    text="A message to a topic whose name has more than 127 characters is refused with"
    " INVALID_PARAMETER (29).",
    source=_VALIDATOR,
    since="5.3.2",
)
TOPIC_IS_CREATED = Clause(
    id="SEND-TOPIC-005",
    level=Level.MUST,
    text="Sending to an unknown topic creates it after the default topic that the"
    " request names, if that one may be inherited.",
    source="4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"
    "#createTopicInSendMessageMethod",
)
CREATED_QUEUE_COUNT = Clause(
    id="SEND-TOPIC-006",
    level=Level.MUST,
    text="A topic created by sending has as many queues as the request asks for, at"
    " most as many as its default topic.",
    source="4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"
    "#createTopicInSendMessageMethod",
)
UNKNOWN_TOPIC = Clause(
    id="SEND-TOPIC-007",
    level=Level.MUST,
    text="A message to an unknown topic whose default topic is unknown too is refused"
    " with TOPIC_NOT_EXIST (17).",
    source=_CHECK,
    issues=("apache/rocketmq#8801",),
)
ANY_TOPIC_NAME = Clause(
    id="SEND-TOPIC-008",
    level=Level.QUIRK,
    text="A broker takes any characters in a topic's name; only clients check them.",
    source=_CHECK,
    until="4.6.0",
)
TOPIC_NAME_IS_CHECKED = Clause(
    id="SEND-TOPIC-009",
    level=Level.MUST,
    text="A message to a topic whose name has other characters than letters, digits,"
    " %, |, - and _ is refused.",
    source=_VALIDATOR,
    since="4.6.1",
)
DEFAULT_TOPIC_REFUSED = Clause(
    id="SEND-TOPIC-010",
    level=Level.MUST,
    text="A message to the default topic TBW102 itself is refused with SYSTEM_ERROR"
    " (1).",
    source="4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"
    "#isTopicCanSendMessage",
    until="4.7.0",
)
PRODUCERS_FLAG = Clause(
    id="SEND-FLAG-001",
    level=Level.MUST,
    text="The producer's flag reaches the consumer, any 32 bits.",
    source=f"{_SEND}#sendMessage",
)
SYSTEM_FLAGS = Clause(
    id="SEND-FLAG-002",
    level=Level.MUST,
    text="The compression bits of the system flags reach the consumer, and the broker"
    " neither packs nor unpacks the body.",
    source=f"{_SEND}#sendMessage",
)
BORN_TIME = Clause(
    id="SEND-TIME-001",
    level=Level.MUST,
    text="A record's born time is the request's bornTimestamp, whatever it is.",
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
    text="A record's born host is the address from which the producer's connection"
    " comes.",
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
    text="A record's count of deliveries is the request's reconsumeTimes, 0 if absent.",
    source=f"{_SEND}#sendMessage",
)
BATCH_OFFSETS = Clause(
    id="SEND-BATCH-001",
    level=Level.MUST,
    text="The messages of a batch get queue offsets one after the other, in their"
    " order, and the answer names the first.",
    source=_APPEND,
)
BATCH_PROPERTIES = Clause(
    id="SEND-BATCH-002",
    level=Level.MUST,
    text="Each message of a batch has the body and properties that it was sent with.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog$MessageExtBatchEncoder#encode",
    issues=("apache/rocketmq#3476",),
)
BATCH_TO_RETRY_TOPIC = Clause(
    id="SEND-BATCH-003",
    level=Level.MUST,
    text="A batch to a retry topic is refused with MESSAGE_ILLEGAL (13).",
    source=f"{_SEND}#sendBatchMessage",
    until="4.6",
)
BATCH_TO_RETRY_TOPIC_AGAIN = Clause(
    id="SEND-BATCH-006",
    level=Level.MUST,
    text="A batch to a retry topic is refused with MESSAGE_ILLEGAL (13), which 4.9 did"
    " not.",
    source="5.3.3 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#sendBatchMessage",
    since="5.0",
)
BATCH_TOO_LARGE = Clause(
    id="SEND-BATCH-004",
    level=Level.MUST,
    text="A batch whose body has more than 4,194,304 bytes is refused with"
    " MESSAGE_ILLEGAL (13).",
    source=f"{_STORE}#putMessages",
    until="4.9",
)
BATCH_TOO_LARGE_IS_ERROR = Clause(
    id="SEND-BATCH-005",
    level=Level.MUST,
    text="A batch whose records have more than 4,194,304 bytes is refused with"
    " SYSTEM_ERROR (1).",
    source="5.3.3 org.apache.rocketmq.store.MessageExtEncoder#encode",
    since="5.0",
)
ONE_WAY_SEND = Clause(
    id="SEND-ONEWAY-001",
    level=Level.MUST,
    text="A message sent oneway is stored like any other.",
    source=f"{_SEND}#handlePutMessageResult",
)
WRITE_PERMISSION = Clause(
    id="SEND-PERM-001",
    level=Level.QUIRK,
    text="A broker takes a message to a topic without the write permission.",
    source=_CHECK,
)
DELAYED_ARRIVES = Clause(
    id="DELAY-SEND-001",
    level=Level.MUST,
    text="A message with DELAY level 1 reaches its topic and queue with its body and"
    " properties, a second or more after it was stored.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#messageTimeup",
)
DELAYED_KEEPS_PROPERTY = Clause(
    id="DELAY-SEND-002",
    level=Level.QUIRK,
    text="A delayed message still has its DELAY property when it is delivered.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#messageTimeup",
    until="4.9",
)
DELAYED_NAMES_REAL_TOPIC = Clause(
    id="DELAY-SEND-003",
    level=Level.QUIRK,
    text="A delivered delayed message has the properties REAL_TOPIC and REAL_QID.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
DELAYED_STORE_TIME = Clause(
    id="DELAY-SEND-004",
    level=Level.MUST,
    text="A delivered delayed message has its producer's born time and born host.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#messageTimeup",
)
