"""
A store loses its oldest files: after a time, or when the disk fills.

The commit log leads; consume queues and index follow it. So a log need not begin at
offset 0, nor a queue.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_CLEAN = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore$CleanCommitLogService"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
_FILES = "4.6.0 org.apache.rocketmq.store.MappedFileQueue"

OLDEST_FIRST = Clause(
    id="STORE-CLEAN-001",
    level=Level.MUST,
    text="Commit-log files are deleted from the oldest on, without a gap, at most 10 at"
    " a time, and the last is never deleted.",
    source=f"{_FILES}#deleteExpiredFileByTime",
)
BY_TIME = Clause(
    id="STORE-CLEAN-002",
    level=Level.MUST,
    text="In the hour deleteWhen a commit-log file is deleted that was last changed"
    " fileReservedTime hours ago or longer.",
    source=f"{_CLEAN}#deleteExpiredFiles",
)
BY_SPACE = Clause(
    id="STORE-CLEAN-003",
    level=Level.MUST,
    text=(
        "A commit-log file older than fileReservedTime is deleted in any hour while "
        "the disk is fuller than diskMaxUsedSpaceRatio, 75 %. Any file but the last "
        "is deleted while the disk is fuller than 85 %."
    ),
    source=f"{_CLEAN}#isSpaceToDelete",
)
MIN_OFFSET = Clause(
    id="STORE-CLEAN-004",
    level=Level.MUST,
    text=(
        "Soon after a deletion a queue's min offset is that of its first remaining "
        "record."
    ),
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset",
)
QUEUES_FOLLOW = Clause(
    id="STORE-CLEAN-005",
    level=Level.MUST,
    text="A consume-queue file is deleted whose last unit points before the commit"
    " log's first offset, but never a queue's last file.",
    source=f"{_FILES}#deleteExpiredFileByOffset",
)
INDEX_FOLLOWS = Clause(
    id="STORE-CLEAN-006",
    level=Level.MUST,
    text="An index file is deleted whose end offset is before the commit log's first,"
    " but never the last.",
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#deleteExpiredFile",
)
QUEUE_KEEPS_BEGINNING = Clause(
    id="STORE-CLEAN-007",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, the min offset of a queue whose messages were all deleted stays "
        "unchanged, and is 0 after a start."
    ),
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset",
    until="4.9",
)
QUEUE_BEGINS_AT_END = Clause(
    id="STORE-CLEAN-008",
    level=Level.MUST,
    text=(
        "From 5.0 on, the min offset of a queue whose messages were all deleted is "
        "its max offset."
    ),
    source="5.3.3 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset",
    since="5.0",
)
EXPIRED_QUEUES = Clause(
    id="STORE-CLEAN-009",
    level=Level.QUIRK,
    text=(
        "On CLEAN_EXPIRED_CONSUMEQUEUE (306) a broker deletes the queues whose "
        "messages were all deleted, except the schedule topic's. The next message of "
        "a deleted queue has offset 0 again."
    ),
    source=f"{_STORE}#cleanExpiredConsumerQueue",
)
FIRST_ROUND = Clause(
    id="STORE-CLEAN-010",
    level=Level.MUST,
    text=(
        "A broker searches for expired files 60 s after its start, and then every "
        "cleanResourceInterval, 10 s by default."
    ),
    source=f"{_STORE}#addScheduleTask",
)
END_STAYS = Clause(
    id="STORE-CLEAN-011",
    level=Level.MUST,
    text=(
        "A deletion keeps the queues' max offsets and the groups' offsets, even over "
        "restarts."
    ),
    source=f"{_FILES}#deleteExpiredFileByOffset",
)
FILE_IN_USE = Clause(
    id="STORE-CLEAN-012",
    level=Level.QUIRK,
    text=(
        "A commit-log file with readers is deleted after they finish, at the next "
        "attempt after redeleteHangedFileInterval, or "
        "destroyMapedFileIntervalForcibly after the first attempt. Until then it "
        "serves no new reader and no younger file is deleted."
    ),
    source=f"{_FILES}#retryDeleteFirstFile",
    untestable="a peer cannot make a broker hold a file for longer than a response",
)
UNIT_OF_OFFSET_0 = Clause(
    id="STORE-CLEAN-013",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a queue may still begin with a deleted message that was the "
        "commit log's first. A pull of that message returns as many bytes of the "
        "first remaining record, of any topic."
    ),
    source="4.6.0 org.apache.rocketmq.store.MappedFileQueue#findMappedFileByOffset",
    until="4.9",
)
PULL_GONE = Clause(
    id="STORE-CLEAN-014",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, pulls from a queue whose messages were all deleted lead to its "
        "end: past a deleted queue file with PULL_NOT_FOUND (19), and past units "
        "with PULL_RETRY_IMMEDIATELY (20)."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage",
    until="4.9",
)
KEY_OF_GONE = Clause(
    id="STORE-CLEAN-015",
    level=Level.MUST,
    text="A query by key does not find messages that were deleted, even while the index"
    " has them.",
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#queryMessage",
)
STOP_ON_FULL_DISK = Clause(
    id="STORE-CLEAN-016",
    level=Level.QUIRK,
    text="A broker that is stopped while it refuses messages because of a full disk"
    " leaves the file abort, as if it had crashed.",
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#shutdown",
)
