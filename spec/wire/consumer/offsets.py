"""
Queue offsets count messages: min and max, committed by a group, or at a store time.

A broker keeps one committed offset for each group, topic and queue.
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

COMMIT = Clause(
    id="OFFSET-COMMIT-001",
    level=Level.MUST,
    text=(
        "A group's committed offset of a queue is the last one that it committed, "
        "even if that is lower."
    ),
    source=f"{_MANAGER}#commitOffset",
)
COMMIT_IS_SEPARATE = Clause(
    id="OFFSET-COMMIT-002",
    level=Level.MUST,
    text="Each group has its own committed offset of each queue of each topic.",
    source=f"{_MANAGER}#commitOffset",
)
COMMIT_ONEWAY = Clause(
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
    text="Up to 4.9, an offset may be committed for a topic that does not exist.",
    source=f"{_PROCESSOR}#updateConsumerOffset",
    until="4.9",
)
COMMIT_NEEDS_TOPIC = Clause(
    id="OFFSET-COMMIT-006",
    level=Level.MUST,
    text=(
        "From 5.0 on, an offset committed for a topic that does not exist is refused "
        "with TOPIC_NOT_EXIST (17)."
    ),
    source=f"{_PROCESSOR_5}#updateConsumerOffset",
    since="5.0",
)
COMMIT_NEEDS_GROUP = Clause(
    id="OFFSET-COMMIT-007",
    level=Level.MUST,
    text=(
        "From 5.3 on, an offset committed for an unknown group is refused with "
        "SUBSCRIPTION_GROUP_NOT_EXIST (26)."
    ),
    source=f"{_PROCESSOR_5}#updateConsumerOffset",
    since="5.3",
    issues=("apache/rocketmq#9235",),
)
QUERY_NEW_GROUP = Clause(
    id="OFFSET-QUERY-001",
    level=Level.MUST,
    text=(
        "A group without a committed offset gets offset 0 for a queue whose first "
        "message is still in memory."
    ),
    source=f"{_PROCESSOR}#queryConsumerOffset",
)
QUERY_NO_QUEUE = Clause(
    id="OFFSET-QUERY-002",
    level=Level.QUIRK,
    text=(
        "Up to 5.0, a group without a committed offset gets offset 0 for a queue "
        "without messages."
    ),
    source=f"{_PROCESSOR}#queryConsumerOffset",
    until="5.0",
)
QUERY_NO_QUEUE_NOT_FOUND = Clause(
    id="OFFSET-QUERY-003",
    level=Level.MUST,
    text=(
        "From 5.1 on, a group without a committed offset gets QUERY_NOT_FOUND (22) "
        "for a queue that was never used."
    ),
    source=f"{_PROCESSOR_5}#queryConsumerOffset",
    since="5.1",
)
QUERY_LATER_QUEUE = Clause(
    id="OFFSET-QUERY-004",
    level=Level.MUST,
    text=(
        "A group without a committed offset gets QUERY_NOT_FOUND (22) for a queue "
        "whose min offset is above 0."
    ),
    source=f"{_PROCESSOR}#queryConsumerOffset",
)
QUERY_ON_DISK = Clause(
    id="OFFSET-QUERY-005",
    level=Level.MUST,
    text=(
        "Up to 5.0, a group without a committed offset gets QUERY_NOT_FOUND (22) for a "
        "queue whose first message is farther from the log's end than "
        "accessMessageInMemoryMaxRatio percent of memory."
    ),
    source=f"{_PROCESSOR}#queryConsumerOffset",
    until="5.0",
)
QUERY_WITHOUT_ZERO = Clause(
    id="OFFSET-QUERY-006",
    level=Level.MUST,
    text=(
        "From 5.0 on, QUERY_CONSUMER_OFFSET (14) with setZeroIfNotFound false, of a "
        "group without a committed offset, is answered with QUERY_NOT_FOUND (22)."
    ),
    source=f"{_PROCESSOR_5}#queryConsumerOffset",
    since="5.0",
)
MAX = Clause(
    id="OFFSET-MAX-001",
    level=Level.MUST,
    text="A queue's max offset is the queue offset of its next message.",
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
    text=(
        "GET_EARLIEST_MSG_STORETIME returns the store time of the queue's oldest "
        "message, or -1 for a queue without messages."
    ),
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
    text=(
        "Up to 5.1.0, a search by a time after the queue's last message finds the "
        "last message."
    ),
    source=_SEARCH,
    until="5.1.0",
)
SEARCH_AFTER_IS_END = Clause(
    id="OFFSET-SEARCH-004",
    level=Level.MUST,
    text=(
        "From 5.1.1 on, a search by a time after the queue's last message finds the "
        "queue's max offset."
    ),
    source=_SEARCH_5,
    since="5.1.1",
)
SEARCH_IS_NEAREST = Clause(
    id="OFFSET-SEARCH-005",
    level=Level.QUIRK,
    text=(
        "Up to 5.1.0, a search by a time between two messages finds the nearer one, "
        "the earlier at equal distance."
    ),
    source=_SEARCH,
    until="5.1.0",
    issues=("apache/rocketmq#4890",),
)
SEARCH_IS_NEXT = Clause(
    id="OFFSET-SEARCH-006",
    level=Level.MUST,
    text="From 5.1.1 on, a search by a time between two messages finds the later one.",
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
    text=(
        "Up to 5.1.0, a search by time reads one file of the queue only: the first "
        "that was modified at that time or later, else the last."
    ),
    source="4.6.0 org.apache.rocketmq.store.MappedFileQueue#getMappedFileByTime",
    until="5.1.0",
    hints=(("changed later only", "was an equal modification time left out?"),),
)
SEARCH_BY_STORE_TIMES = Clause(
    id="OFFSET-SEARCH-009",
    level=Level.MUST,
    text=(
        "From 5.1.1 on, a search by time reads the file whose messages' store times "
        "contain that time, regardless of the file's modification time."
    ),
    source="5.3.3 org.apache.rocketmq.store.MappedFileQueue"
    "#getConsumeQueueMappedFileByTime",
    since="5.1.1",
)
SEARCH_FIRST_OF_MANY = Clause(
    id="OFFSET-SEARCH-010",
    level=Level.MUST,
    text=(
        "From 5.1.1 on, a search by a store time that several messages of a queue "
        "file share finds the first of them."
    ),
    source=_SEARCH_5,
    since="5.1.1",
)
SEARCH_UPPER = Clause(
    id="OFFSET-SEARCH-011",
    level=Level.MUST,
    text=(
        "From 5.1.4 on, a search with boundaryType upper finds the last message "
        "stored at or before the time, and 0 if no message was."
    ),
    source=_SEARCH_5,
    since="5.1.4",
)
SEARCH_LOST_ALL = Clause(
    id="OFFSET-SEARCH-012",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a search in a queue whose messages were all deleted finds the "
        "offset before the first of its last file, or 0."
    ),
    source=_SEARCH,
    until="4.9",
)
SEARCH_LOST_ALL_IS_END = Clause(
    id="OFFSET-SEARCH-013",
    level=Level.MUST,
    text=(
        "From 5.0 on, a search in a queue whose messages were all deleted finds "
        "its max offset."
    ),
    source=_SEARCH_5,
    since="5.0",
)
RESET_OF_STRANGERS = Clause(
    id="OFFSET-RESET-001",
    level=Level.MUST,
    text=(
        "Up to 5.1, INVOKE_BROKER_TO_RESET_OFFSET (222) is refused with SYSTEM_ERROR "
        "(1) if the group lacks a committed offset of some queue."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#resetOffset",
    until="5.1",
)
RESET_OF_THE_ABSENT = Clause(
    id="OFFSET-RESET-002",
    level=Level.MUST,
    text=(
        "Up to 5.1, INVOKE_BROKER_TO_RESET_OFFSET (222) for a group without members "
        "is refused with CONSUMER_NOT_ONLINE (206)."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#resetOffset",
    until="5.1",
)
RESET_BY_THE_MEMBERS = Clause(
    id="OFFSET-RESET-006",
    level=Level.MUST,
    text=(
        "Up to 5.1, on INVOKE_BROKER_TO_RESET_OFFSET (222) a broker sends each member "
        "RESET_CONSUMER_CLIENT_OFFSET (220), oneway, and responds with the same table."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#resetOffset",
    until="5.1",
)
RESET_GOES_BACK = Clause(
    id="OFFSET-RESET-007",
    level=Level.MUST,
    text=(
        "Up to 5.1, INVOKE_BROKER_TO_RESET_OFFSET (222) resets each queue to the "
        "offset of its timestamp, without isForce only if the committed one is higher."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.net.Broker2Client#resetOffset",
    until="5.1",
)
RESET_BY_THE_BROKER = Clause(
    id="OFFSET-RESET-003",
    level=Level.MUST,
    text=(
        "From 5.2 on, INVOKE_BROKER_TO_RESET_OFFSET (222) sets the group's committed "
        "offset of each queue to that of the timestamp, with or without members, and "
        "returns these offsets."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#resetOffsetInner",
    since="5.2",
)
