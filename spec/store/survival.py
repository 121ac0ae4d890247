"""
What a crash leaves: every message that a broker answered for, each of them once.

``recovery`` says how a broker finds out what it has, and ``flushing`` when a message
is on disk. Here is what a producer and a consumer may rely on afterwards.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"
_QUEUE = "4.6.0 org.apache.rocketmq.store.ConsumeQueue"

NONE_TWICE = Clause(
    id="REC-KEEP-001",
    level=Level.MUST,
    text="After a crash no message that was stored once is in its queue twice.",
    source=f"{_QUEUE}#putMessagePositionInfo",
)
OFFSETS_ARE_DENSE = Clause(
    id="REC-KEEP-002",
    level=Level.MUST,
    text="After a crash each offset of a queue from min to max less one has a message,"
    " and the message's record says that offset.",
    source=f"{_QUEUE}#putMessagePositionInfo",
)
KEYS_FIND = Clause(
    id="REC-KEEP-003",
    level=Level.MUST,
    text="After a crash the messages of the commit-log files that recovery read are"
    " found by their keys.",
    source=f"{_LOG}#recoverAbnormally",
)
DELAYED_ARRIVE = Clause(
    id="REC-KEEP-004",
    level=Level.MUST,
    text="A delayed message that was answered before a crash is delivered after it,"
    " perhaps a second time.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService#load",
    issues=("apache/rocketmq#1869",),
)
HALVES_CAN_END = Clause(
    id="REC-KEEP-005",
    level=Level.MUST,
    text="A half message that was answered before a crash can be committed after it,"
    " and is then delivered.",
    source="4.6.0 org.apache.rocketmq.broker.transaction.queue"
    ".TransactionalMessageServiceImpl#commitMessage",
)
COMMITS_STAY = Clause(
    id="REC-KEEP-006",
    level=Level.MUST,
    text="A transaction whose commit was answered before a crash is delivered.",
    source="4.6.0 org.apache.rocketmq.broker.processor.EndTransactionProcessor"
    "#processRequest",
)
KEYS_ARE_LOST = Clause(
    id="REC-KEEP-007",
    level=Level.QUIRK,
    text="After a crash a message of an index file that was deleted is not found by its"
    " key where recovery began behind the message.",
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#load",
    issues=("apache/rocketmq#8007", "apache/rocketmq#7539"),
)
KEYS_FIND_TWICE = Clause(
    id="REC-KEEP-008",
    level=Level.QUIRK,
    text="After a crash the last message of an index file that stayed is indexed again,"
    " and a query by its key finds it twice.",
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#buildIndex",
)
FULL_DISK = Clause(
    id="REC-FULL-001",
    level=Level.MUST,
    text="A disk that is full to the last byte costs no message that was answered"
    " SUCCESS before it was: all are there when the broker is killed and started.",
    source="experiment: a broker of 4.6.0 on a file system of 48 MB",
)
SPACE_AGAIN = Clause(
    id="REC-FULL-002",
    level=Level.SHOULD,
    text="A broker whose disk was full takes messages again soon after it has space.",
    source="experiment: a broker of 4.6.0 on a file system of 48 MB",
    issues=("alibaba/rocketmq#331",),
)
NOBODY_WAITS = Clause(
    id="REC-KEEP-009",
    level=Level.QUIRK,
    text="With ASYNC_FLUSH a message is answered before it is on disk, and a power cut"
    " may take it.",
    source=f"{_LOG}#handleDiskFlush",
)
THOSE_TOO_MANY = Clause(
    id="REC-FULL-003",
    level=Level.QUIRK,
    text="A broker whose disk is full to the last byte may answer SUCCESS for a message"
    " that it does not keep; if it is killed, that one and all behind it are lost, and"
    " none before it.",
    source="experiment: a broker of 4.6.0 on a file system of 48 MB",
)
EMPTY_QUEUE_STAYS = Clause(
    id="REC-KEEP-010",
    level=Level.QUIRK,
    text="A queue whose messages all lay in commit-log files that are gone keeps its"
    " min and max offset, though none of them can be read.",
    source=f"{_QUEUE}#correctMinOffset",
    until="4.9",
    issues=("apache/rocketmq#8753",),
)
EMPTY_QUEUE_IS_EMPTY = Clause(
    id="REC-KEEP-011",
    level=Level.MUST,
    text="A queue whose messages all lay in commit-log files that are gone has its max"
    " offset as its min offset.",
    source="5.3.3 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset",
    since="5.0",
)
