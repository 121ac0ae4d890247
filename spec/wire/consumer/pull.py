"""
A pull requests the messages of one queue from an offset on.

The response has a sequence of records and the next offset, or the reason for their
absence. A request may be held until a message arrives. It may have an offset to commit,
and a subscription to tags.
"""

from __future__ import annotations

from enum import IntFlag

from spec.clause import Clause, Level

_PROCESSOR = "4.6.0 org.apache.rocketmq.broker.processor.PullMessageProcessor"
_PULL = f"{_PROCESSOR}#processRequest"
_GET = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage"
_IS_FULL = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore#isTheBatchFull"
_HOLD = "4.6.0 org.apache.rocketmq.broker.longpolling.PullRequestHoldService"
_FILTER = "4.6.0 org.apache.rocketmq.common.filter.FilterAPI#buildSubscriptionData"


class PullFlag(IntFlag):
    """Bits of a pull request's sysFlag."""

    COMMIT_OFFSET = 1 << 0
    """commitOffset is to be committed."""
    SUSPEND = 1 << 1
    """Hold the request for suspendTimeoutMillis if there is nothing."""
    SUBSCRIPTION = 1 << 2
    """The header's subscription selects; else that of the group's heartbeat."""
    CLASS_FILTER = 1 << 3


RESPONSE_BYTES_MAX = 262_144
"""Records of one response have no more bytes, unless a single one has."""
RESPONSE_COUNT_MAX = 32
"""Largest number of records in one response."""

FOUND = Clause(
    id="PULL-FOUND-001",
    level=Level.MUST,
    text="A pull from a queue's offset gets the messages from there on, in their order,"
    " without gaps.",
    source=_GET,
)
NEXT_OFFSET = Clause(
    id="PULL-FOUND-002",
    level=Level.MUST,
    text=(
        "nextBeginOffset is one more than the offset of the last message that the "
        "broker examined."
    ),
    source=_GET,
)
QUEUE_BOUNDS = Clause(
    id="PULL-FOUND-003",
    level=Level.MUST,
    text="minOffset and maxOffset are those of the queue: its first message, and one"
    " after its last.",
    source=_GET,
)
BODY_IS_RECORDS = Clause(
    id="PULL-FOUND-004",
    level=Level.MUST,
    text=(
        "The body of a pull response is the records as the commit log has them, one "
        "after the other."
    ),
    source="4.6.0 org.apache.rocketmq.broker.pagecache.ManyMessageTransfer",
    issues=(
        "mxsm/rocketmq-rust#3050",
        "mxsm/rocketmq-rust#3052",
        "mxsm/rocketmq-rust#4693",
    ),
)
SUGGESTED_BROKER = Clause(
    id="PULL-FOUND-005",
    level=Level.MUST,
    text=(
        "A master without slaveReadEnable returns suggestWhichBrokerId 0 (MASTER_ID), "
        "itself, for the next pull."
    ),
    source=_PULL,
)
SUGGESTED_SLAVE = Clause(
    id="PULL-FOUND-006",
    level=Level.MUST,
    text=(
        "A master with slaveReadEnable suggests the group's "
        "whichBrokerWhenConsumeSlowly where the last examined message is farther from "
        "the log's end than accessMessageInMemoryMaxRatio percent of memory. Elsewhere "
        "suggestWhichBrokerId is the group's brokerId."
    ),
    source=_PULL,
)
EMPTY_QUEUE = Clause(
    id="PULL-EMPTY-001",
    level=Level.MUST,
    text=(
        "A pull from offset 0 of an empty queue is answered with PULL_NOT_FOUND (19)."
    ),
    source=_PULL,
)
EMPTY_QUEUE_ELSEWHERE = Clause(
    id="PULL-EMPTY-002",
    level=Level.MUST,
    text=(
        "A pull from any other offset of an empty queue is answered with "
        "PULL_OFFSET_MOVED (21), nextBeginOffset 0."
    ),
    source=_PULL,
    issues=("apache/rocketmq#2181",),
)
AT_END = Clause(
    id="PULL-MAXOFFSET-001",
    level=Level.MUST,
    text=(
        "A pull from a queue's maxOffset is answered with PULL_NOT_FOUND (19), "
        "nextBeginOffset unchanged."
    ),
    source=_GET,
)
PAST_END = Clause(
    id="PULL-MAXOFFSET-002",
    level=Level.MUST,
    text=(
        "A pull from past a queue's maxOffset is answered with PULL_OFFSET_MOVED (21)."
    ),
    source=_GET,
    issues=(
        "apache/rocketmq#2181",
        "apache/rocketmq#1825",
        "apache/rocketmq#7740",
        "apache/rocketmq#3503",
    ),
)
PAST_END_RESTARTS = Clause(
    id="PULL-MAXOFFSET-003",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.3, nextBeginOffset of a pull from past maxOffset is 0 while the "
        "queue begins at 0, so the consumer starts over."
    ),
    source=_GET,
    until="4.9.3",
    issues=("apache/rocketmq#2181", "apache/rocketmq#1825"),
)
PAST_END_GOES_TO_END = Clause(
    id="PULL-MAXOFFSET-004",
    level=Level.MUST,
    text=(
        "From 4.9.4 on, nextBeginOffset of a pull from past maxOffset is the queue's "
        "maxOffset."
    ),
    source="4.9.7 org.apache.rocketmq.store.DefaultMessageStore#getMessage",
    since="4.9.4",
)
BEFORE_BEGIN = Clause(
    id="PULL-MINOFFSET-001",
    level=Level.MUST,
    text=(
        "A pull from before a queue's minOffset is answered with PULL_OFFSET_MOVED "
        "(21), nextBeginOffset minOffset."
    ),
    source=_GET,
)
UNKNOWN_QUEUE = Clause(
    id="PULL-QUEUE-001",
    level=Level.MUST,
    text=(
        "Up to 5.3.1, a pull from a negative queue id, or one that the topic does "
        "not have, is refused with SYSTEM_ERROR (1)."
    ),
    source=_PULL,
    until="5.3.1",
)
UNKNOWN_QUEUE_IS_INVALID = Clause(
    id="PULL-QUEUE-002",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, a pull from a negative queue id, or one that the topic does "
        "not have, is refused with INVALID_PARAMETER (29)."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.PullMessageProcessor"
    "#processRequest",
    since="5.3.2",
)
UNKNOWN_TOPIC = Clause(
    id="PULL-TOPIC-001",
    level=Level.MUST,
    text="A pull from an unknown topic is refused with TOPIC_NOT_EXIST (17).",
    source=_PULL,
)
READ_PERMISSION = Clause(
    id="PULL-PERM-001",
    level=Level.MUST,
    text=(
        "A pull from a topic without PERM_READ (4) is refused with NO_PERMISSION (16)."
    ),
    source=_PULL,
)
GROUP_PERMISSION = Clause(
    id="PULL-PERM-002",
    level=Level.MUST,
    text=(
        "A pull of a group with consumeEnable false is refused with NO_PERMISSION (16)."
    ),
    source=_PULL,
)
BROKER_PERMISSION = Clause(
    id="PULL-PERM-003",
    level=Level.MUST,
    text=(
        "A broker whose brokerPermission lacks PERM_READ (4) refuses pulls with "
        "NO_PERMISSION (16)."
    ),
    source=_PULL,
)
BROADCAST_PERMISSION = Clause(
    id="PULL-PERM-004",
    level=Level.MUST,
    text=(
        "A pull without FLAG_SUBSCRIPTION (4), of a group with consumeBroadcastEnable "
        "false and a heartbeat with BROADCASTING, is refused with NO_PERMISSION (16)."
    ),
    source=_PULL,
)
COUNT = Clause(
    id="PULL-COUNT-001",
    level=Level.MUST,
    text="A pull response has no more messages than maxMsgNums.",
    source=_GET,
)
COUNT_BELOW_ONE = Clause(
    id="PULL-COUNT-002",
    level=Level.QUIRK,
    text="A pull with maxMsgNums 0 gets one message.",
    source=_IS_FULL,
)
COUNT_LIMIT = Clause(
    id="PULL-COUNT-003",
    level=Level.MUST,
    text="A pull response has at most 32 messages, even if maxMsgNums is larger.",
    source="4.6.0 org.apache.rocketmq.store.config.MessageStoreConfig"
    "#maxTransferCountOnMessageInMemory",
)
BYTES_LIMIT = Clause(
    id="PULL-COUNT-004",
    level=Level.MUST,
    text=(
        "A pull response's records have at most 262,144 bytes, but a larger first "
        "message comes alone."
    ),
    source="4.6.0 org.apache.rocketmq.store.config.MessageStoreConfig"
    "#maxTransferBytesOnMessageInMemory",
)
COUNT_ON_DISK = Clause(
    id="PULL-COUNT-005",
    level=Level.MUST,
    text=(
        "A message farther from the commit log's end than "
        "accessMessageInMemoryMaxRatio percent of physical memory counts as on disk. "
        "In a pull response it is at most the eighth message "
        "(maxTransferCountOnMessageInDisk)."
    ),
    source=_IS_FULL,
)
BYTES_ON_DISK = Clause(
    id="PULL-COUNT-006",
    level=Level.MUST,
    text=(
        "A message farther from the commit log's end than "
        "accessMessageInMemoryMaxRatio percent of physical memory counts as on disk. "
        "In a pull response it is the first message, or ends within 65,536 bytes of "
        "records (maxTransferBytesOnMessageInDisk)."
    ),
    source=_IS_FULL,
)
ONE_TAG = Clause(
    id="PULL-FILTER-001",
    level=Level.MUST,
    text="A pull with a tag as its subscription gets every message of that tag and none"
    " whose tag has another hash.",
    source="4.6.0 org.apache.rocketmq.broker.filter.ExpressionMessageFilter"
    "#isMatchedByConsumeQueue",
)
TAGS = Clause(
    id="PULL-FILTER-002",
    level=Level.MUST,
    text="Tags with || between them, and any spaces, select the messages of each.",
    source=_FILTER,
)
ALL_TAGS = Clause(
    id="PULL-FILTER-003",
    level=Level.MUST,
    text="The subscription *, an empty one and none select every message.",
    source=_FILTER,
)
NO_TAG_MATCHES = Clause(
    id="PULL-FILTER-004",
    level=Level.MUST,
    text=(
        "A pull that skips messages and selects no message is answered with "
        "PULL_RETRY_IMMEDIATELY (20), nextBeginOffset past them."
    ),
    source=_GET,
)
TAG_COLLISION = Clause(
    id="PULL-FILTER-005",
    level=Level.QUIRK,
    text=(
        "A broker compares tags by hash: a pull for the tag Aa also gets messages of "
        "BB, and the consumer must compare the text."
    ),
    source="4.6.0 org.apache.rocketmq.broker.filter.ExpressionMessageFilter"
    "#isMatchedByConsumeQueue",
)
BAD_SUBSCRIPTION = Clause(
    id="PULL-FILTER-006",
    level=Level.MUST,
    text="A subscription of nothing but || is refused with SUBSCRIPTION_PARSE_FAILED"
    " (23).",
    source=_FILTER,
)
SQL_IS_OFF = Clause(
    id="PULL-FILTER-007",
    level=Level.MUST,
    text=(
        "A pull with an SQL92 expression is refused with SYSTEM_ERROR (1) unless the "
        "broker's enablePropertyFilter is true."
    ),
    source=_PULL,
)
CLASS_FILTERS = Clause(
    id="PULL-FILTER-008",
    level=Level.MUST,
    text=(
        "A pull with a subscription of a heartbeat whose classFilterMode is true "
        "returns the messages of all tags."
    ),
    source="4.6.0 org.apache.rocketmq.broker.filter.ExpressionMessageFilter"
    "#isMatchedByConsumeQueue",
)
TYPE_IS_TAG = Clause(
    id="PULL-FILTER-009",
    level=Level.MUST,
    text=(
        "A pull with a subscription of a heartbeat whose expressionType is empty or "
        "absent selects by its codeSet, as one of type TAG."
    ),
    source="4.6.0 org.apache.rocketmq.common.filter.ExpressionType#isTagType",
)
NO_HEARTBEAT = Clause(
    id="PULL-GROUP-001",
    level=Level.MUST,
    text=(
        "A pull without FLAG_SUBSCRIPTION (4), of a group without a heartbeat that "
        "subscribes to the topic, is refused with SUBSCRIPTION_NOT_EXIST (24)."
    ),
    source=_PULL,
)
GROUP_SUBSCRIPTION = Clause(
    id="PULL-GROUP-002",
    level=Level.MUST,
    text=(
        "A pull without FLAG_SUBSCRIPTION (4) selects by the subscription of the "
        "group's heartbeat."
    ),
    source=_PULL,
)
OLD_SUBSCRIPTION = Clause(
    id="PULL-GROUP-003",
    level=Level.MUST,
    text=(
        "A pull without FLAG_SUBSCRIPTION (4), whose subVersion is newer than that of "
        "the group's heartbeat, is refused with SUBSCRIPTION_NOT_LATEST (25)."
    ),
    source=_PULL,
)
UNKNOWN_GROUP = Clause(
    id="PULL-GROUP-004",
    level=Level.MUST,
    text=(
        "With autoCreateSubscriptionGroup=false a pull of an unknown group is refused "
        "with SUBSCRIPTION_GROUP_NOT_EXIST (26)."
    ),
    source=_PULL,
)
GROUP_ON_DEMAND = Clause(
    id="PULL-GROUP-005",
    level=Level.MUST,
    text=(
        "While autoCreateSubscriptionGroup is true, its default, an unknown group is "
        "in the table of groups, with default settings, after its pull, HEART_BEAT "
        "(34) or CONSUMER_SEND_MSG_BACK (36)."
    ),
    source="4.6.0 org.apache.rocketmq.broker.subscription.SubscriptionGroupManager"
    "#findSubscriptionGroupConfig",
)
HOLD = Clause(
    id="PULL-HOLD-001",
    level=Level.MUST,
    text=(
        "A pull with FLAG_SUSPEND (2) at a queue's maxOffset is answered only when a "
        "message arrives, and then with that message."
    ),
    source=f"{_HOLD}#notifyMessageArriving",
)
HOLD_ENDS = Clause(
    id="PULL-HOLD-002",
    level=Level.MUST,
    text=(
        "A held pull request is answered with PULL_NOT_FOUND (19) after its "
        "suspendTimeoutMillis, five seconds later at the latest."
    ),
    source=f"{_HOLD}#checkHoldRequest",
)
HOLD_BY_TAG = Clause(
    id="PULL-HOLD-003",
    level=Level.MUST,
    text=(
        "The arrival of a message that a held pull request does not select does not "
        "complete it; at most the PullRequestHoldService's check every five seconds "
        "does."
    ),
    source=f"{_HOLD}#notifyMessageArriving",
)
NO_HOLD_WHEN_MOVED = Clause(
    id="PULL-HOLD-004",
    level=Level.MUST,
    text="A pull with FLAG_SUSPEND (2) from past maxOffset is answered immediately.",
    source=_PULL,
)
HOLD_LEAVES_CONNECTION = Clause(
    id="PULL-HOLD-005",
    level=Level.MUST,
    text="Other requests of the connection are answered while a pull request is held.",
    source=_PULL,
)
SHORT_POLLING = Clause(
    id="PULL-HOLD-006",
    level=Level.MUST,
    text=(
        "With longPollingEnable=false a held pull request is answered with "
        "PULL_NOT_FOUND (19) after shortPollingTimeMills instead of its "
        "suspendTimeoutMillis, five seconds later at the latest."
    ),
    source=_PULL,
)
MOVED_EVENT = Clause(
    id="PULL-EVENT-001",
    level=Level.MUST,
    until="4.9",
    text=(
        "Up to 4.9, a master that answers PULL_OFFSET_MOVED (21) stores a message in "
        "OFFSET_MOVED_EVENT. Tag and key are the consumer group; the body has "
        "consumerGroup, messageQueue, offsetRequest and offsetNew."
    ),
    source=f"{_PROCESSOR}#generateOffsetMovedEvent",
)
MOVED_EVENT_HAS_DELAY = Clause(
    id="PULL-EVENT-002",
    level=Level.QUIRK,
    until="4.9",
    text=(
        "Up to 4.9, the message in OFFSET_MOVED_EVENT has the property DELAY with "
        "the value 0."
    ),
    source=f"{_PROCESSOR}#generateOffsetMovedEvent",
)
NO_MOVED_EVENT = Clause(
    id="PULL-EVENT-003",
    level=Level.MUST,
    since="5.3",
    text=(
        "From 5.3 on, a broker that answers PULL_OFFSET_MOVED (21) stores no message "
        "in OFFSET_MOVED_EVENT."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.DefaultPullMessageResultHandler"
    "#handle",
)
COMMITS = Clause(
    id="PULL-COMMIT-001",
    level=Level.MUST,
    text=(
        "A pull with FLAG_COMMIT_OFFSET (1) commits its commitOffset, with or "
        "without found messages."
    ),
    source=_PULL,
)
COMMITS_NOT = Clause(
    id="PULL-COMMIT-002",
    level=Level.MUST,
    text="A pull without FLAG_COMMIT_OFFSET (1) commits nothing.",
    source=_PULL,
)
