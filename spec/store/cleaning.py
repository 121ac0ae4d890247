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
    text="Such a file is deleted in any hour while the disk is fuller than"
    " diskMaxUsedSpaceRatio, 75 %, and any but the last while it is fuller than 85 %.",
    source=f"{_CLEAN}#isSpaceToDelete",
)
MIN_OFFSET = Clause(
    id="STORE-CLEAN-004",
    level=Level.MUST,
    text="A queue's min offset is, soon after a deletion, that of its first record that"
    " is left.",
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
    text="The min offset of a queue all of whose messages were deleted stays what it"
    " was, and is 0 after a start.",
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset",
    until="4.9",
)
QUEUE_BEGINS_AT_END = Clause(
    id="STORE-CLEAN-008",
    level=Level.MUST,
    text="The min offset of a queue all of whose messages were deleted is its max"
    " offset.",
    source="5.3.3 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset",
    since="5.0",
)
EXPIRED_QUEUES = Clause(
    id="STORE-CLEAN-009",
    level=Level.QUIRK,
    text="On CLEAN_EXPIRED_CONSUMEQUEUE (306) a broker deletes the queues all of whose"
    " messages were deleted, the schedule topic's excepted; the next message of such a"
    " queue has offset 0 again.",
    source=f"{_STORE}#cleanExpiredConsumerQueue",
)
FIRST_ROUND = Clause(
    id="STORE-CLEAN-010",
    level=Level.MUST,
    text="A broker looks for files to delete 60 s after its start, and then every"
    " cleanResourceInterval, 10 s by default.",
    source=f"{_STORE}#addScheduleTask",
)
END_STAYS = Clause(
    id="STORE-CLEAN-011",
    level=Level.MUST,
    text="A deletion leaves the queues' max offsets and the groups' offsets as they"
    " are, over restarts, too.",
    source=f"{_FILES}#deleteExpiredFileByOffset",
)
FILE_IN_USE = Clause(
    id="STORE-CLEAN-012",
    level=Level.QUIRK,
    text="A commit-log file that is being read is deleted when the reader is done, at"
    " the next try after redeleteHangedFileInterval, or"
    " destroyMapedFileIntervalForcibly after the first; until then nothing more of it"
    " is read and no younger file is deleted.",
    source=f"{_FILES}#retryDeleteFirstFile",
    untestable="a peer cannot make a broker hold a file for longer than an answer",
)
UNIT_OF_OFFSET_0 = Clause(
    id="STORE-CLEAN-013",
    level=Level.QUIRK,
    text="Who pulls a message that was the first of the commit log, from a queue that"
    " begins with it though it was deleted, gets as many bytes from the first record"
    " that is left, of whatever topic.",
    source="4.6.0 org.apache.rocketmq.store.MappedFileQueue#findMappedFileByOffset",
    until="4.9",
)
PULL_GONE = Clause(
    id="STORE-CLEAN-014",
    level=Level.QUIRK,
    text="Pulls from a queue all of whose messages were deleted lead to its end: from a"
    " queue file that is gone to the next file with PULL_NOT_FOUND (19), and past units"
    " with PULL_RETRY_IMMEDIATELY (20).",
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
