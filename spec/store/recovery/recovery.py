"""
Recovery of a broker's store at its start.

The broker finds the end of the commit log, truncates the rest, and makes consume queues
and index agree. The first file that it reads depends on the file abort, which marks a
stop that was not orderly. ``commit_log`` has the rules of a scan.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
_QUEUE = "4.6.0 org.apache.rocketmq.store.ConsumeQueue"
_FILES = "4.6.0 org.apache.rocketmq.store.MappedFileQueue"


AFTER_A_STOP = Clause(
    id="REC-FIRSTFILE-001",
    level=Level.MUST,
    text=(
        "Up to 5.3.1, without the file abort, recovery of the commit log begins at "
        "the last file but two; damage in older files remains."
    ),
    source=f"{_LOG}#recoverNormally",
    until="5.3.1",
)
AFTER_A_STOP_BY_QUEUES = Clause(
    id="REC-FIRSTFILE-004",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, without the file abort, recovery begins at the last "
        "commit-log file that begins at or before some consume queue's last offset. "
        "Damage in older files remains."
    ),
    source="5.3.3 org.apache.rocketmq.store.CommitLog#recoverNormally",
    since="5.3.2",
)
# An operator who deletes consume queues to rebuild them can so lose the log.
WITHOUT_QUEUES = Clause(
    id="REC-FIRSTFILE-005",
    level=Level.QUIRK,
    text=(
        "From 5.3.2 on, without any consume queue recovery begins at the first "
        "commit-log file, from 5.4 on at the tenth last, even after an orderly stop. "
        "An invalid record there ends the log, and the later files are deleted."
    ),
    source="5.3.3 org.apache.rocketmq.store.CommitLog#recoverNormally",
    since="5.3.2",
)
AFTER_A_CRASH = Clause(
    id="REC-FIRSTFILE-002",
    level=Level.MUST,
    text=(
        "Up to 5.4, with the file abort, recovery goes back from the last file over "
        "files whose first record is missing, has store time 0 or is too new. "
        "Without an old enough file it begins at the first one, in 5.4 at the tenth "
        "last."
    ),
    source=f"{_LOG}#isMappedFileMatchedRecover",
    until="5.4",
)
EQUAL_TIMES = Clause(
    id="REC-FIRSTFILE-003",
    level=Level.MUST,
    text=(
        "Up to 5.4, a file whose first record's store time equals the checkpoint's "
        "time less 3000 ms is old enough for recovery to begin there."
    ),
    source=f"{_LOG}#isMappedFileMatchedRecover",
    until="5.4",
    hints=(("smaller only", "was an equal time, or the 3000 ms, left out?"),),
)
BY_THE_OFFSET_OF_QUEUES = Clause(
    id="REC-FIRSTFILE-006",
    level=Level.MUST,
    text=(
        "From 5.5 on, recovery after a crash begins at the last commit-log file "
        "whose first record is not behind the checkpoint's offset of the queues "
        "(bytes 40 to 48)."
    ),
    source="5.5.0 org.apache.rocketmq.store.queue.ConsumeQueueStore"
    "#isMappedFileMatchedRecover",
    since="5.5",
)
WITHOUT_AN_OFFSET_OF_QUEUES = Clause(
    id="REC-FIRSTFILE-007",
    level=Level.MUST,
    text=(
        "If bytes 40 to 48 of the checkpoint are 0, recovery after a crash begins at "
        "the last file whose first record was stored by the second time."
    ),
    source="5.5.0 org.apache.rocketmq.store.queue.ConsumeQueueStore"
    "#isMappedFileMatchedRecover",
    since="5.5",
)
# Consume queues that are deleted are made again for the records of ten files only.
TEN_FILES = Clause(
    id="REC-FIRSTFILE-008",
    level=Level.QUIRK,
    text=(
        "From 5.4 on, recovery begins in one of the last ten commit-log files "
        "(commitLogRecoverMaxNum), even where all of them are too new. Records "
        "before it get no units."
    ),
    source="5.4.0 org.apache.rocketmq.store.CommitLog#recoverAbnormally, "
    "recoverNormally",
    since="5.4",
)
TAIL_IS_CUT = Clause(
    id="REC-TRUNCATE-001",
    level=Level.MUST,
    text="The next message is written where recovery found the end of the commit log.",
    source=f"{_FILES}#truncateDirtyFiles",
)
LATER_FILES_GO = Clause(
    id="REC-TRUNCATE-002",
    level=Level.MUST,
    text="Files of the commit log that begin after its end are deleted.",
    source=f"{_FILES}#truncateDirtyFiles",
)
TAIL_STAYS = Clause(
    id="REC-TRUNCATE-003",
    level=Level.QUIRK,
    text=(
        "Truncated records may stay as bytes in their file until messages overwrite "
        "them. An old record that then follows the last new one is recovered again "
        "by the next start."
    ),
    source=f"{_FILES}#truncateDirtyFiles",
    issues=("apache/rocketmq#10017", "apache/rocketmq#10666", "apache/rocketmq#10816"),
)
LOG_IS_GONE = Clause(
    id="REC-TRUNCATE-004",
    level=Level.MUST,
    text="From 4.5 on, if the commit log has no file the consume queues are deleted.",
    source=f"{_LOG}#recoverNormally",
    since="4.5",
)
QUEUES_OUTLIVE_LOG = Clause(
    id="REC-TRUNCATE-005",
    level=Level.QUIRK,
    text=(
        "In 4.4, if the commit log has no file after an orderly stop, the consume "
        "queues stay and point at nothing."
    ),
    source="4.4.0 org.apache.rocketmq.store.CommitLog#recoverNormally",
    until="4.4",
)
QUEUE_SCAN = Clause(
    id="REC-QUEUE-001",
    level=Level.MUST,
    text="A consume queue ends, from its last but two file on, before the first unit"
    " whose offset is negative or whose size is not positive.",
    source=f"{_QUEUE}#recover",
)
QUEUE_IS_CUT = Clause(
    id="REC-QUEUE-002",
    level=Level.MUST,
    text="Units that point at or after the end of the commit log are truncated.",
    source=f"{_QUEUE}#truncateDirtyLogicFiles",
    issues=(
        "alibaba/rocketmq#358",
        "alibaba/rocketmq#359",
    ),
)
MISSING_UNITS = Clause(
    id="REC-DISPATCH-001",
    level=Level.MUST,
    text=(
        "From 4.5 to 4.9, records after the last one at which any consume queue "
        "points get their units and index items before the broker serves."
    ),
    source=f"{_STORE}#start",
    since="4.5",
    until="4.9",
    issues=(
        "mxsm/rocketmq-rust#2872",
        "mxsm/rocketmq-rust#2873",
    ),
)
MISSING_UNITS_SINCE_5_3_2 = Clause(
    id="REC-DISPATCH-010",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, records behind the end of the last one at which any consume "
        "queue points get their units and index items before the broker serves."
    ),
    source="5.3.3 org.apache.rocketmq.store.CommitLog#recoverNormally",
    since="5.3.2",
)
UNITS_STAY_MISSING_IN_5 = Clause(
    id="REC-DISPATCH-011",
    level=Level.QUIRK,
    text=(
        "From 5.0 to 5.3.1, after an orderly stop only records stored from then on "
        "are dispatched: records without units keep lacking them."
    ),
    source="5.3.1 org.apache.rocketmq.store.CommitLog#recoverNormally",
    since="5.0",
    until="5.3.1",
)
UNITS_STAY_MISSING = Clause(
    id="REC-DISPATCH-006",
    level=Level.QUIRK,
    text=(
        "In 4.4, after an orderly stop only records stored from then on are "
        "dispatched: records without units keep lacking them."
    ),
    source="4.4.0 org.apache.rocketmq.store.DefaultMessageStore#start",
    until="4.4",
)
HOLES_STAY = Clause(
    id="REC-DISPATCH-002",
    level=Level.QUIRK,
    text=(
        "A record that lacks its unit keeps lacking it while any queue points past "
        "it and recovery begins past it."
    ),
    source=f"{_STORE}#start",
    issues=(
        "apache/rocketmq#1434",
        "apache/rocketmq#467",
        "apache/rocketmq#7355",
        "apache/rocketmq#7599",
    ),
)
CRASH_DISPATCHES = Clause(
    id="REC-DISPATCH-003",
    level=Level.MUST,
    text=(
        "After a crash every record from the file where recovery began is dispatched "
        "again; existing units are not duplicated."
    ),
    source=f"{_LOG}#recoverAbnormally",
)
OFFSETS_GO_ON = Clause(
    id="REC-DISPATCH-004",
    level=Level.MUST,
    text=(
        "After a start, new messages get the queue offsets after the last of their "
        "queue."
    ),
    source=f"{_STORE}#recoverTopicQueueTable",
)
ORDER_OF_OFFSETS = Clause(
    id="REC-DISPATCH-005",
    level=Level.MUST,
    text="After any recovery every queue has 0 <= min offset <= max offset.",
    source=f"{_QUEUE}#correctMinOffset",
    issues=("apache/rocketmq#10417",),
)
EMPTY_LAST_FILE = Clause(
    id="REC-QUEUE-003",
    level=Level.MUST,
    text=(
        "Up to 4.9, a broker starts on a store whose last consume-queue file is "
        "empty of units."
    ),
    source=f"{_QUEUE}#recover",
    until="4.9",  # Since then see REC-QUEUE-008, and since 5.5 REC-QUEUE-012.
    issues=("apache/rocketmq#9728", "apache/rocketmq#10108"),
)
EMPTY_LAST_FILE_SINCE_5_5 = Clause(
    id="REC-QUEUE-012",
    level=Level.MUST,
    text=(
        "From 5.5 on, a broker starts on a store whose last consume-queue file is "
        "empty of units."
    ),
    source="5.5.0 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset",
    since="5.5",
    issues=("apache/rocketmq#9728", "apache/rocketmq#10108"),
)
STRAY_FILES = Clause(
    id="REC-LOAD-001",
    level=Level.QUIRK,
    text=(
        "From 4.5 to 5.1.2, a broker does not start if the commit log or a consume "
        "queue has a file of another size, even an empty one."
    ),
    source=f"{_FILES}#load",
    since="4.5",
    until="5.1.2",
    issues=("apache/rocketmq#3257", "apache/rocketmq#1560"),
)
EMPTY_LAST_FILE_GOES = Clause(
    id="REC-LOAD-002",
    level=Level.MUST,
    text=(
        "From 5.1.3 on, a broker deletes an empty last file of the commit log or a "
        "consume queue and starts; a file of any other wrong size prevents the "
        "start."
    ),
    source="5.3.3 org.apache.rocketmq.store.MappedFileQueue#doLoad",
    since="5.1.3",
    issues=("apache/rocketmq#6904",),
)
HOLE_IN_THE_LOG = Clause(
    id="REC-LOAD-003",
    level=Level.QUIRK,
    text=(
        "A broker starts without an error on a commit log with a missing middle "
        "file; the messages of that file cannot be read."
    ),
    source=f"{_FILES}#checkSelf",
    issues=(
        "apache/rocketmq#2141",
        "apache/rocketmq#8859",
    ),
)
GARBAGE_IN_THE_LOG = Clause(
    id="REC-DISPATCH-007",
    level=Level.QUIRK,
    text=(
        "From 4.5 to 4.9, dispatch that meets an invalid record skips the rest of "
        "what it had read on a master, and stays there for ever on a slave."
    ),
    source=f"{_STORE}$ReputMessageService#doReput",
    # 4.4, and 5.0 to 5.3.1, dispatch nothing of what a start finds. Since 5.3.2
    # recovery itself dispatches, and ends the log there.
    since="4.5",
    until="4.9",
    issues=("apache/rocketmq#6767", "apache/rocketmq#289"),
)
CHECKSUM_ZERO = Clause(
    id="REC-SCAN-007",
    level=Level.MUST,
    text="A record whose body's checksum is 0 survives a start like any other.",
    source=f"{_LOG}#checkMessageAndReturnSize",
    issues=("apache/rocketmq#9121",),
)
PROPERTIES_ARE_NOT_CHECKED = Clause(
    id="REC-SCAN-008",
    level=Level.QUIRK,
    text=(
        "A start accepts a record whose properties are zeros, because the checksum "
        "covers the body only."
    ),
    source=f"{_LOG}#checkMessageAndReturnSize",
    issues=("apache/rocketmq#7437",),
)
NAMES_ARE_OFFSETS = Clause(
    id="REC-LOAD-004",
    level=Level.QUIRK,
    text=(
        "A broker does not start when a file of the right size whose name is not a "
        "number is among those of the commit log."
    ),
    source="4.6.0 org.apache.rocketmq.store.MappedFile#init",
)
STRANGERS_DO_NOT_MATTER = Clause(
    id="REC-LOAD-005",
    level=Level.MUST,
    text=(
        "A broker starts with all messages if lock and checkpoint are missing after "
        "an orderly stop, or other files are in its store, its topic or index "
        "directories."
    ),
    source=f"{_STORE}#loadConsumeQueue",
)
NO_CHECKPOINT = Clause(
    id="REC-CHECKPOINT-003",
    level=Level.MUST,
    text="A checkpoint that is missing or too short is read as zeros: recovery after a"
    " crash then begins at the first file.",
    source="4.6.0 org.apache.rocketmq.store.StoreCheckpoint#StoreCheckpoint",
)
PHANTOM_UNIT = Clause(
    id="REC-QUEUE-004",
    level=Level.QUIRK,
    text=(
        "An empty last consume-queue file may count as having one unit of zeros when "
        "the queues point at the commit log's end."
    ),
    source=f"{_QUEUE}#truncateDirtyLogicFiles",
)
PLACE_IS_LOST = Clause(
    id="REC-QUEUE-005",
    level=Level.QUIRK,
    text=(
        "A queue whose first files expired may begin again at offset 0 if a start "
        "truncates all remaining units; the committed offsets of its groups stay."
    ),
    source=f"{_QUEUE}#truncateDirtyLogicFiles",
)
