"""
A consumer pulls: it asks one queue for the messages from an offset on.

The answer is a row of records and where to ask next, or a reason why there are
none. A request may ask to be held until a message arrives; it may carry an offset
to commit, and the tags that it wants.
"""

from __future__ import annotations

from enum import IntFlag

from spec.clause import Clause, Level

_PULL = "4.6.0 org.apache.rocketmq.broker.processor.PullMessageProcessor#processRequest"
_GET = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage"
_HOLD = "4.6.0 org.apache.rocketmq.broker.longpolling.PullRequestHoldService"
_FILTER = "4.6.0 org.apache.rocketmq.common.filter.FilterAPI#buildSubscriptionData"


class PullFlag(IntFlag):
    """Bits of a pull request's sysFlag."""

    COMMIT_OFFSET = 1 << 0
    """commitOffset is to be committed."""
    SUSPEND = 1 << 1
    """Hold the request for suspendTimeoutMillis if there is nothing."""
    SUBSCRIPTION = 1 << 2
    """subscription says which tags are wanted; else the group's heartbeat does."""
    CLASS_FILTER = 1 << 3


ANSWER_FIELDS = ("suggestWhichBrokerId", "nextBeginOffset", "minOffset", "maxOffset")
ANSWER_BYTES_MAX = 262_144
"""Records of one answer have no more bytes, unless a single one has."""
ANSWER_COUNT_MAX = 32
"""Records in one answer, however many were asked for."""

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
    text="nextBeginOffset is one more than the offset of the last message looked at.",
    source=_GET,
)
QUEUE_BOUNDS = Clause(
    id="PULL-FOUND-003",
    level=Level.MUST,
    text="minOffset and maxOffset are those of the queue: its first message, and one"
    " after its last.",
    source=_GET,
)
RECORDS = Clause(
    id="PULL-FOUND-004",
    level=Level.MUST,
    text="The body of a pull answer is the records as the commit log has them, one"
    " after the other.",
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
    text="A master that keeps up suggests itself, broker id 0, for the next pull.",
    source=_PULL,
)
EMPTY_QUEUE = Clause(
    id="PULL-EMPTY-001",
    level=Level.MUST,
    text="A pull from offset 0 of an empty queue is answered PULL_NOT_FOUND (19).",
    source=_PULL,
)
EMPTY_QUEUE_ELSEWHERE = Clause(
    id="PULL-EMPTY-002",
    level=Level.MUST,
    text="A pull from any other offset of an empty queue is answered PULL_OFFSET_MOVED"
    " (21), next offset 0.",
    source=_PULL,
    issues=("apache/rocketmq#2181",),
)
AT_END = Clause(
    id="PULL-END-001",
    level=Level.MUST,
    text="A pull from a queue's maxOffset is answered PULL_NOT_FOUND (19), next offset"
    " the same.",
    source=_GET,
)
PAST_END = Clause(
    id="PULL-END-002",
    level=Level.MUST,
    text="A pull from past a queue's maxOffset is answered PULL_OFFSET_MOVED (21).",
    source=_GET,
    issues=(
        "apache/rocketmq#2181",
        "apache/rocketmq#1825",
        "apache/rocketmq#7740",
        "apache/rocketmq#3503",
    ),
)
PAST_END_RESTARTS = Clause(
    id="PULL-END-003",
    level=Level.QUIRK,
    text="The next offset of a pull from past the end is 0 while the queue begins at 0:"
    " the consumer starts over.",
    source=_GET,
    until="4.9.3",
    issues=("apache/rocketmq#2181", "apache/rocketmq#1825"),
)
PAST_END_GOES_TO_END = Clause(
    id="PULL-END-004",
    level=Level.MUST,
    text="The next offset of a pull from past the end is the queue's maxOffset.",
    source="4.9.7 org.apache.rocketmq.store.DefaultMessageStore#getMessage",
    since="4.9.4",
)
BEFORE_BEGIN = Clause(
    id="PULL-BEGIN-001",
    level=Level.MUST,
    text="A pull from before a queue's minOffset is answered PULL_OFFSET_MOVED (21),"
    " next offset minOffset.",
    source=_GET,
)
UNKNOWN_QUEUE = Clause(
    id="PULL-QUEUE-001",
    level=Level.MUST,
    text="A pull from a queue that the topic does not have, or a negative one, is"
    " refused with SYSTEM_ERROR (1).",
    source=_PULL,
    until="5.3.1",
)
UNKNOWN_QUEUE_IS_INVALID = Clause(
    id="PULL-QUEUE-002",
    level=Level.MUST,
    text="A pull from a queue that the topic does not have, or a negative one, is"
    " refused with INVALID_PARAMETER (29).",
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
    text="A pull from a topic without the read permission is refused with NO_PERMISSION"
    " (16).",
    source=_PULL,
)
GROUP_PERMISSION = Clause(
    id="PULL-PERM-002",
    level=Level.MUST,
    text="A pull of a group whose consumption is switched off is refused with"
    " NO_PERMISSION (16).",
    source=_PULL,
)
COUNT = Clause(
    id="PULL-COUNT-001",
    level=Level.MUST,
    text="A pull answer has no more messages than maxMsgNums asks for.",
    source=_GET,
)
COUNT_BELOW_ONE = Clause(
    id="PULL-COUNT-002",
    level=Level.QUIRK,
    text="A pull for no messages gets one.",
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#isTheBatchFull",
)
COUNT_LIMIT = Clause(
    id="PULL-COUNT-003",
    level=Level.MUST,
    text="A pull answer has no more than 32 messages, however many were asked for.",
    source="4.6.0 org.apache.rocketmq.store.config.MessageStoreConfig"
    "#maxTransferCountOnMessageInMemory",
)
BYTES_LIMIT = Clause(
    id="PULL-COUNT-004",
    level=Level.MUST,
    text="A pull answer's records have no more than 262,144 bytes, but a first message"
    " that is larger comes alone.",
    source="4.6.0 org.apache.rocketmq.store.config.MessageStoreConfig"
    "#maxTransferBytesOnMessageInMemory",
)
TAG = Clause(
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
    text="A pull that passes messages and selects none is answered"
    " PULL_RETRY_IMMEDIATELY (20), next offset past them.",
    source=_GET,
)
TAG_COLLISION = Clause(
    id="PULL-FILTER-005",
    level=Level.QUIRK,
    text="Tags are compared by hash: a pull for Aa also gets messages of BB, and the"
    " consumer must look itself.",
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
    text="A pull with an SQL92 expression is refused with SYSTEM_ERROR (1) unless the"
    " broker's enablePropertyFilter is on.",
    source=_PULL,
)
NO_HEARTBEAT = Clause(
    id="PULL-GROUP-001",
    level=Level.MUST,
    text="A pull without a subscription of its own, of a group that sent no heartbeat,"
    " is refused with SUBSCRIPTION_NOT_EXIST (24).",
    source=_PULL,
)
GROUP_SUBSCRIPTION = Clause(
    id="PULL-GROUP-002",
    level=Level.MUST,
    text="A pull without a subscription of its own selects by that of the group's"
    " heartbeat.",
    source=_PULL,
)
OLD_SUBSCRIPTION = Clause(
    id="PULL-GROUP-003",
    level=Level.MUST,
    text="A pull whose subVersion is newer than that of the group's heartbeat is"
    " refused with SUBSCRIPTION_NOT_LATEST (25).",
    source=_PULL,
)
HOLD = Clause(
    id="PULL-HOLD-001",
    level=Level.MUST,
    text="A pull with the suspend flag at a queue's end is not answered before a"
    " message arrives, and then with that message.",
    source=f"{_HOLD}#notifyMessageArriving",
)
HOLD_ENDS = Clause(
    id="PULL-HOLD-002",
    level=Level.MUST,
    text="A held pull is answered PULL_NOT_FOUND (19) once its suspend time has passed,"
    " five seconds later at the latest.",
    source=f"{_HOLD}#checkHoldRequest",
)
HOLD_BY_TAG = Clause(
    id="PULL-HOLD-003",
    level=Level.MUST,
    text="A held pull is not woken by the arrival of a message that it does not select;"
    " at most the look that the broker takes every five seconds answers it.",
    source=f"{_HOLD}#notifyMessageArriving",
)
NO_HOLD_WHEN_MOVED = Clause(
    id="PULL-HOLD-004",
    level=Level.MUST,
    text="A pull with the suspend flag from past the end is answered at once.",
    source=_PULL,
)
HOLD_LEAVES_CONNECTION = Clause(
    id="PULL-HOLD-005",
    level=Level.MUST,
    text="Other requests on the connection are answered while a pull is held.",
    source=_PULL,
)
MOVED_EVENT = Clause(
    id="PULL-EVENT-001",
    level=Level.MUST,
    until="4.9",
    text="A master that answers PULL_OFFSET_MOVED stores a message under"
    " OFFSET_MOVED_EVENT whose tag and key are the consumer group and whose body says"
    " consumerGroup, messageQueue, offsetRequest and offsetNew.",
    source=f"{_PULL}#generateOffsetMovedEvent",
)
MOVED_EVENT_HAS_DELAY = Clause(
    id="PULL-EVENT-002",
    level=Level.QUIRK,
    until="4.9",
    text="The message about a moved offset has the property DELAY, which is 0.",
    source=f"{_PULL}#generateOffsetMovedEvent",
)
NO_MOVED_EVENT = Clause(
    id="PULL-EVENT-003",
    level=Level.MUST,
    since="5.3",
    text="PULL_OFFSET_MOVED is answered and nothing is stored about it.",
    source="5.3.3 org.apache.rocketmq.broker.processor.DefaultPullMessageResultHandler"
    "#handle",
)
COMMITS = Clause(
    id="PULL-COMMIT-001",
    level=Level.MUST,
    text="A pull with the commit flag commits its commitOffset, whether it finds"
    " messages or not.",
    source=_PULL,
)
COMMITS_NOT = Clause(
    id="PULL-COMMIT-002",
    level=Level.MUST,
    text="A pull without the commit flag commits nothing.",
    source=_PULL,
)
