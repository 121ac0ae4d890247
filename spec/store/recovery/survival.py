"""
Messages after a crash: every acknowledged message, each of them once.

``recovery`` has the broker's search for its messages, and ``flushing`` the times at
which a message is on disk. These clauses are guarantees for producers and consumers.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"
_QUEUE = "4.6.0 org.apache.rocketmq.store.ConsumeQueue"

NONE_TWICE = Clause(
    id="REC-CRASH-001",
    level=Level.MUST,
    text="After a crash no message that was stored once is in its queue twice.",
    source=f"{_QUEUE}#putMessagePositionInfo",
)
OFFSETS_ARE_DENSE = Clause(
    id="REC-CRASH-002",
    level=Level.MUST,
    text=(
        "After a crash each offset of a queue from min to max less one has a "
        "message, and the message's record has that queue offset."
    ),
    source=f"{_QUEUE}#putMessagePositionInfo",
)
KEYS_FIND = Clause(
    id="REC-CRASH-003",
    level=Level.MUST,
    text="After a crash the messages of the commit-log files that recovery read are"
    " found by their keys.",
    source=f"{_LOG}#recoverAbnormally",
)
DELAYED_ARRIVE = Clause(
    id="REC-CRASH-004",
    level=Level.MUST,
    text=(
        "A delayed message that was acknowledged before a crash is delivered after "
        "it, perhaps a second time."
    ),
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService#load",
    issues=("apache/rocketmq#1869",),
)
HALVES_CAN_END = Clause(
    id="REC-CRASH-005",
    level=Level.MUST,
    text=(
        "A half message that was acknowledged before a crash can be committed after "
        "it, and is then delivered."
    ),
    source="4.6.0 org.apache.rocketmq.broker.transaction.queue"
    ".TransactionalMessageServiceImpl#commitMessage",
)
COMMITS_STAY = Clause(
    id="REC-CRASH-006",
    level=Level.MUST,
    text="A transaction whose commit was acknowledged before a crash is delivered.",
    source="4.6.0 org.apache.rocketmq.broker.processor.EndTransactionProcessor"
    "#processRequest",
)
KEYS_ARE_LOST = Clause(
    id="REC-CRASH-007",
    level=Level.QUIRK,
    text=(
        "After a crash a message of a deleted index file is not found by its key if "
        "recovery began behind the message."
    ),
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#load",
    issues=("apache/rocketmq#8007", "apache/rocketmq#7539"),
)
KEYS_FIND_TWICE = Clause(
    id="REC-CRASH-008",
    level=Level.QUIRK,
    text=(
        "After a crash the last message of a kept index file is indexed again, and a "
        "query by its key finds it twice."
    ),
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#buildIndex",
)
FULL_DISK = Clause(
    id="REC-DISKFULL-001",
    level=Level.MUST,
    text=(
        "A disk that is full to the last byte costs no message that was acknowledged "
        "with SUCCESS (0) before: after a kill and a start all are readable."
    ),
    source="experiment: a broker of 4.6.0 on a file system of 48 MB",
)
SPACE_AGAIN = Clause(
    id="REC-DISKFULL-002",
    level=Level.SHOULD,
    text=(
        "A broker whose disk was full accepts messages again soon after it has space."
    ),
    source="experiment: a broker of 4.6.0 on a file system of 48 MB",
    issues=("alibaba/rocketmq#331",),
)
ACKNOWLEDGED_BEFORE_DISK = Clause(
    id="REC-POWERCUT-006",
    level=Level.QUIRK,
    text=(
        "With ASYNC_FLUSH a message is acknowledged before it is on disk, and a "
        "power cut may take it."
    ),
    source=f"{_LOG}#handleDiskFlush",
)
THOSE_TOO_MANY = Clause(
    id="REC-DISKFULL-003",
    level=Level.QUIRK,
    text=(
        "A broker whose disk is full to the last byte may answer SUCCESS (0) for a "
        "message that it does not store. After a kill that message and all behind it "
        "are lost, and none before it."
    ),
    source="experiment: a broker of 4.6.0 on a file system of 48 MB",
)
PULLS_ON_FULL_DISK = Clause(
    id="REC-DISKFULL-004",
    level=Level.SHOULD,
    text=(
        "A broker whose disk is full serves pull requests, also those of a consumer "
        "group that it creates on its first request and cannot persist."
    ),
    source="4.6.0 org.apache.rocketmq.broker.subscription.SubscriptionGroupManager"
    "#findSubscriptionGroupConfig",
)
TABLES_ARE_PERSISTED_LATER = Clause(
    id="REC-DISKFULL-005",
    level=Level.SHOULD,
    text=(
        "A broker that could not persist consumerOffset.json because the disk was full "
        "persists it at a later period, when there is space."
    ),
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#persist",
)
EMPTY_QUEUE_STAYS = Clause(
    id="REC-QUEUE-006",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a queue whose messages were all in deleted commit-log files "
        "keeps its max offset at a start, and has min offset 0. None of the messages "
        "can be read."
    ),
    source=f"{_QUEUE}#correctMinOffset",
    until="4.9",
    issues=("apache/rocketmq#8753",),
)
EMPTY_QUEUE_IS_EMPTY = Clause(
    id="REC-QUEUE-007",
    level=Level.MUST,
    text=(
        "From 5.0 on, a queue whose messages were all in deleted commit-log files "
        "has its max offset as its min offset."
    ),
    source="5.3.3 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset",
    since="5.0",
)
