"""
Offsets of queues count messages: which exist, which a group has consumed, which was
stored when.

A broker keeps one committed offset for each group, topic and queue, as it is told.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_MANAGER = "4.6.0 org.apache.rocketmq.broker.offset.ConsumerOffsetManager"
_PROCESSOR = "4.6.0 org.apache.rocketmq.broker.processor.ConsumerManageProcessor"
_PROCESSOR_5 = "5.3.3 org.apache.rocketmq.broker.processor.ConsumerManageProcessor"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
_SEARCH = "4.6.0 org.apache.rocketmq.store.ConsumeQueue#getOffsetInQueueByTime"
_SEARCH_5 = "5.3.3 org.apache.rocketmq.store.ConsumeQueue#binarySearchInQueueByTime"

COMMITTED_FIELDS = ("consumerGroup", "topic", "queueId", "commitOffset")
NO_TIME = -1
"""The store time of a message that does not exist."""

COMMIT = Clause(
    id="OFFSET-COMMIT-001",
    level=Level.MUST,
    text="A group's committed offset of a queue is what it last committed, lower ones"
    " too.",
    source=f"{_MANAGER}#commitOffset",
)
COMMIT_IS_SEPARATE = Clause(
    id="OFFSET-COMMIT-002",
    level=Level.MUST,
    text="Groups, topics and queues have their committed offsets each for themselves.",
    source=f"{_MANAGER}#commitOffset",
)
COMMIT_ONE_WAY = Clause(
    id="OFFSET-COMMIT-003",
    level=Level.MUST,
    text="An offset may be committed oneway.",
    source=f"{_PROCESSOR}#updateConsumerOffset",
)
COMMIT_PAST_END = Clause(
    id="OFFSET-COMMIT-004",
    level=Level.QUIRK,
    text="A committed offset is not compared with the queue: it may lie past its end.",
    source=f"{_MANAGER}#commitOffset",
)
COMMIT_TO_UNKNOWN_TOPIC = Clause(
    id="OFFSET-COMMIT-005",
    level=Level.QUIRK,
    text="An offset may be committed for a topic that does not exist.",
    source=f"{_PROCESSOR}#updateConsumerOffset",
    until="4.9",
)
COMMIT_NEEDS_TOPIC = Clause(
    id="OFFSET-COMMIT-006",
    level=Level.MUST,
    text="An offset committed for a topic that does not exist is refused with"
    " TOPIC_NOT_EXIST (17).",
    source=f"{_PROCESSOR_5}#updateConsumerOffset",
    since="5.0",
)
COMMIT_NEEDS_GROUP = Clause(
    id="OFFSET-COMMIT-007",
    level=Level.MUST,
    text="An offset committed for a group that the broker does not know is refused with"
    " SUBSCRIPTION_GROUP_NOT_EXIST (26).",
    source=f"{_PROCESSOR_5}#updateConsumerOffset",
    since="5.3",
    issues=("apache/rocketmq#9235",),
)
QUERY_NEW_GROUP = Clause(
    id="OFFSET-QUERY-001",
    level=Level.MUST,
    text="A group that has committed nothing gets offset 0 for a queue whose first"
    " message is still in memory.",
    source=f"{_PROCESSOR}#queryConsumerOffset",
)
QUERY_NO_QUEUE = Clause(
    id="OFFSET-QUERY-002",
    level=Level.QUIRK,
    text="A group that has committed nothing gets offset 0 for a queue without"
    " messages.",
    source=f"{_PROCESSOR}#queryConsumerOffset",
    until="5.0",
)
QUERY_NO_QUEUE_NOT_FOUND = Clause(
    id="OFFSET-QUERY-003",
    level=Level.MUST,
    text="A group that has committed nothing gets QUERY_NOT_FOUND (22) for a queue that"
    " was never used.",
    source=f"{_PROCESSOR_5}#queryConsumerOffset",
    since="5.1",
)
MAX = Clause(
    id="OFFSET-MAX-001",
    level=Level.MUST,
    text="A queue's max offset is the queue offset that its next message will get.",
    source=f"{_STORE}#getMaxOffsetInQueue",
)
MIN = Clause(
    id="OFFSET-MIN-001",
    level=Level.MUST,
    text="A queue's min offset is the queue offset of its oldest message.",
    source=f"{_STORE}#getMinOffsetInQueue",
)
NOTHING_THERE = Clause(
    id="OFFSET-MAX-002",
    level=Level.MUST,
    text="Max and min offset of a queue that was never used, or does not exist, are 0.",
    source=f"{_STORE}#getMaxOffsetInQueue",
)
EARLIEST = Clause(
    id="OFFSET-TIME-001",
    level=Level.MUST,
    text="A queue's earliest store time is that of its oldest message, -1 if there is"
    " none.",
    source=f"{_STORE}#getEarliestMessageTime",
)
SEARCH_EXACT = Clause(
    id="OFFSET-SEARCH-001",
    level=Level.MUST,
    text="A search by a message's store time finds that message's queue offset, or one"
    " of the same time.",
    source=_SEARCH,
    issues=(
        "apache/rocketmq#4890",
        "apache/rocketmq#2661",
        "apache/rocketmq#5752",
        "apache/rocketmq#7961",
        "apache/rocketmq#8736",
        "apache/rocketmq#4070",
    ),
)
SEARCH_BEFORE = Clause(
    id="OFFSET-SEARCH-002",
    level=Level.MUST,
    text="A search by a time before the queue's first message finds the first.",
    source=_SEARCH,
)
SEARCH_AFTER_IS_LAST = Clause(
    id="OFFSET-SEARCH-003",
    level=Level.QUIRK,
    text="A search by a time after the queue's last message finds the last.",
    source=_SEARCH,
    until="5.1.0",
)
SEARCH_AFTER_IS_END = Clause(
    id="OFFSET-SEARCH-004",
    level=Level.MUST,
    text="A search by a time after the queue's last message finds the queue's end.",
    source=_SEARCH_5,
    since="5.1.1",
)
SEARCH_IS_NEAREST = Clause(
    id="OFFSET-SEARCH-005",
    level=Level.QUIRK,
    text="A search by a time between two messages finds the nearer, the earlier if both"
    " are as near.",
    source=_SEARCH,
    until="5.1.0",
    issues=("apache/rocketmq#4890",),
)
SEARCH_IS_NEXT = Clause(
    id="OFFSET-SEARCH-006",
    level=Level.MUST,
    text="A search by a time between two messages finds the later.",
    source=_SEARCH_5,
    since="5.1.1",
)
SEARCH_NOTHING = Clause(
    id="OFFSET-SEARCH-007",
    level=Level.MUST,
    text="A search in a queue that was never used finds 0.",
    source=_SEARCH,
)
SEARCH_IN_ONE_FILE = Clause(
    id="OFFSET-SEARCH-008",
    level=Level.QUIRK,
    text="A search by time looks into one file of the queue only: the first that was"
    " changed at that time or later, else the last.",
    source="4.6.0 org.apache.rocketmq.store.MappedFileQueue#getMappedFileByTime",
    until="5.1.0",
    hints=(
        (
            "changed later only",
            "so says the article on storage; the release takes an equal time too",
        ),
    ),
)
SEARCH_BY_STORE_TIMES = Clause(
    id="OFFSET-SEARCH-009",
    level=Level.MUST,
    text="A search by time looks into the file of the queue whose messages' store times"
    " hold that time, whenever the file was changed.",
    source="5.3.3 org.apache.rocketmq.store.MappedFileQueue"
    "#getConsumeQueueMappedFileByTime",
    since="5.1.1",
)
SEARCH_FIRST_OF_MANY = Clause(
    id="OFFSET-SEARCH-010",
    level=Level.MUST,
    text="A search by a store time that several messages of a queue file have finds the"
    " first of these.",
    source=_SEARCH_5,
    since="5.1.1",
)
SEARCH_UPPER = Clause(
    id="OFFSET-SEARCH-011",
    level=Level.MUST,
    text="A search whose field boundaryType is upper finds the last message stored at"
    " the time or before it, and 0 where there is none.",
    source=_SEARCH_5,
    since="5.1.4",
)
SEARCH_LOST_ALL = Clause(
    id="OFFSET-SEARCH-012",
    level=Level.QUIRK,
    text="A search in a queue all of whose messages were deleted finds the offset"
    " before the first of its last file, or 0.",
    source=_SEARCH,
    until="5.1.0",
)
SEARCH_LOST_ALL_IS_END = Clause(
    id="OFFSET-SEARCH-013",
    level=Level.MUST,
    text="A search in a queue all of whose messages were deleted finds its end.",
    source=_SEARCH_5,
    since="5.1.1",
)
RESET_OF_STRANGERS = Clause(
    id="OFFSET-RESET-001",
    level=Level.MUST,
    text="INVOKE_BROKER_TO_RESET_OFFSET (222) for a group that has committed no offset"
    " of some queue is refused with SYSTEM_ERROR (1).",
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#resetOffset",
    until="5.1",
)
RESET_OF_THE_ABSENT = Clause(
    id="OFFSET-RESET-002",
    level=Level.MUST,
    text="INVOKE_BROKER_TO_RESET_OFFSET (222) for a group without members is refused"
    " with CONSUMER_NOT_ONLINE (206).",
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#resetOffset",
    until="5.1",
)
RESET_BY_THE_BROKER = Clause(
    id="OFFSET-RESET-003",
    level=Level.MUST,
    text="INVOKE_BROKER_TO_RESET_OFFSET (222) is done by the broker itself, whether the"
    " group has members or not, and answered with the new offset of each queue.",
    source="5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#resetOffsetInner",
    since="5.2",
)
