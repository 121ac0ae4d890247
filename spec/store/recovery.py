"""
What a broker does with its store when it starts.

It looks for the end of the commit log, cuts off what is after it, and makes consume
queues and index agree. How far back it looks depends on whether it was stopped in
order, which the file abort tells. ``commit_log`` has what a scan accepts.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
_QUEUE = "4.6.0 org.apache.rocketmq.store.ConsumeQueue"
_FILES = "4.6.0 org.apache.rocketmq.store.MappedFileQueue"

FILES_LOOKED_AT = 3
"""Files of the log, and of each queue, that recovery reads after a clean stop."""

AFTER_A_STOP = Clause(
    id="REC-BEGIN-001",
    level=Level.MUST,
    text="Without the file abort, recovery of the commit log begins at the last but two"
    " file; what is wrong in an older one stays.",
    source=f"{_LOG}#recoverNormally",
    until="5.3.1",
)
AFTER_A_STOP_BY_QUEUES = Clause(
    id="REC-BEGIN-007",
    level=Level.MUST,
    text="Without the file abort, recovery of the commit log begins at the last file"
    " that begins at or before the place to which some consume queue points; what is"
    " wrong in an older one stays.",
    source="5.3.3 org.apache.rocketmq.store.CommitLog#recoverNormally",
    since="5.3.2",
)
# Who deletes consume queues to have them made anew can so lose the log.
WITHOUT_QUEUES = Clause(
    id="REC-BEGIN-010",
    level=Level.QUIRK,
    text="Without any consume queue recovery begins at the first file of the commit"
    " log, after a stop too: what is no record there ends the log, and the files behind"
    " it are deleted.",
    source="5.3.3 org.apache.rocketmq.store.CommitLog#recoverNormally",
    since="5.3.2",
)
AFTER_A_CRASH = Clause(
    id="REC-BEGIN-002",
    level=Level.MUST,
    text="With the file abort, recovery passes over files, from the last back, that"
    " begin with no record or one of store time 0, and begins at the first file if none"
    " is old enough.",
    source=f"{_LOG}#isMappedFileMatchedRecover",
)
EQUAL_TIMES = Clause(
    id="REC-BEGIN-003",
    level=Level.MUST,
    text="A file whose first record has just the checkpoint's time less 3000 ms is old"
    " enough.",
    source=f"{_LOG}#isMappedFileMatchedRecover",
    hints=(("smaller only", "so says the article on storage, without the 3000 ms"),),
)
TAIL_IS_CUT = Clause(
    id="REC-END-001",
    level=Level.MUST,
    text="The next message is written where recovery found the end of the commit log.",
    source=f"{_FILES}#truncateDirtyFiles",
)
LATER_FILES_GO = Clause(
    id="REC-END-002",
    level=Level.MUST,
    text="Files of the commit log that begin after its end are deleted.",
    source=f"{_FILES}#truncateDirtyFiles",
)
TAIL_STAYS = Clause(
    id="REC-END-003",
    level=Level.QUIRK,
    text="What is cut off may stay in its file as bytes until messages are written over"
    " it; an old record that then follows the last new one is found again by the next"
    " recovery.",
    source=f"{_FILES}#truncateDirtyFiles",
    issues=("apache/rocketmq#10017", "apache/rocketmq#10666", "apache/rocketmq#10816"),
)
LOG_IS_GONE = Clause(
    id="REC-END-004",
    level=Level.MUST,
    text="Where the commit log has no file the consume queues are deleted.",
    source=f"{_LOG}#recoverNormally",
    since="4.5",
)
QUEUES_OUTLIVE_LOG = Clause(
    id="REC-END-005",
    level=Level.QUIRK,
    text="Where the commit log has no file after an orderly stop, the consume queues"
    " stay and point at nothing.",
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
    text="Units that point at or after the end of the commit log are cut off.",
    source=f"{_QUEUE}#truncateDirtyLogicFiles",
    issues=(
        "alibaba/rocketmq#358",
        "alibaba/rocketmq#359",
    ),
)
MISSING_UNITS = Clause(
    id="REC-DISPATCH-001",
    level=Level.MUST,
    text="Records after the last that any queue points at get their units and index"
    " items before the broker serves.",
    source=f"{_STORE}#start",
    since="4.5",
    issues=(
        "mxsm/rocketmq-rust#2872",
        "mxsm/rocketmq-rust#2873",
    ),
)
UNITS_STAY_MISSING = Clause(
    id="REC-DISPATCH-006",
    level=Level.QUIRK,
    text="After an orderly stop only what is stored from then on is dispatched: records"
    " without units keep lacking them.",
    source="4.4.0 org.apache.rocketmq.store.DefaultMessageStore#start",
    until="4.4",
)
HOLES_STAY = Clause(
    id="REC-DISPATCH-002",
    level=Level.QUIRK,
    text="A record that lacks its unit keeps lacking it while any queue points behind"
    " it and recovery begins behind it.",
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
    text="After a crash every record from the file where recovery began is dispatched"
    " again; what is there already is not doubled.",
    source=f"{_LOG}#recoverAbnormally",
)
OFFSETS_GO_ON = Clause(
    id="REC-DISPATCH-004",
    level=Level.MUST,
    text="After a start, messages get the queue offsets after the last of their queue.",
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
    text="A broker starts on a store whose last consume-queue file is there and empty"
    " of units.",
    source=f"{_QUEUE}#recover",
    until="4.9",  # Since then see REC-START-003.
    issues=("apache/rocketmq#9728", "apache/rocketmq#10108"),
)
STRAY_FILES = Clause(
    id="REC-BEGIN-004",
    level=Level.QUIRK,
    text="A broker does not start when a file of another size, an empty one too, lies"
    " among those of the commit log or of a queue.",
    source=f"{_FILES}#load",
    since="4.5",
    until="5.1.2",
    issues=("apache/rocketmq#3257", "apache/rocketmq#1560"),
)
EMPTY_LAST_FILE_GOES = Clause(
    id="REC-BEGIN-005",
    level=Level.MUST,
    text="A broker deletes an empty file that is the last of the commit log or a queue"
    " and starts; a file of any other wrong size keeps it from starting.",
    source="5.3.3 org.apache.rocketmq.store.MappedFileQueue#doLoad",
    since="5.1.3",
    issues=("apache/rocketmq#6904",),
)
HOLE_IN_THE_LOG = Clause(
    id="REC-BEGIN-006",
    level=Level.QUIRK,
    text="A broker starts without a word on a commit log of which a file in the middle"
    " is missing; what lay there cannot be read.",
    source=f"{_FILES}#checkSelf",
    issues=(
        "apache/rocketmq#2141",
        "apache/rocketmq#8859",
    ),
)
GARBAGE_IN_THE_LOG = Clause(
    id="REC-DISPATCH-007",
    level=Level.QUIRK,
    text="Dispatch that meets garbage passes over the rest of what it had read at a"
    " master, and stays there for ever at a slave.",
    source=f"{_STORE}$ReputMessageService#doReput",
    # 4.4 dispatches nothing of what a start finds, and since 5.3.2 recovery itself
    # dispatches and ends the log there: in those it cannot be seen.
    since="4.5",
    until="5.3.1",
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
    text="A record whose properties are zeros is taken for good by a start, for the"
    " checksum is the body's alone.",
    source=f"{_LOG}#checkMessageAndReturnSize",
    since="4.5",
    issues=("apache/rocketmq#7437",),
)
NAMES_ARE_OFFSETS = Clause(
    id="REC-BEGIN-008",
    level=Level.QUIRK,
    text="A broker does not start when a file of the right size whose name is no number"
    " lies among those of the commit log.",
    source="4.6.0 org.apache.rocketmq.store.MappedFile#init",
)
STRANGERS_DO_NOT_MATTER = Clause(
    id="REC-BEGIN-009",
    level=Level.MUST,
    text="A broker starts, and has everything, where the files lock and checkpoint are"
    " missing after an orderly stop, or files of other kinds lie in its store, among"
    " the topics' directories, or among the index files.",
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
    text="A last consume-queue file that is there and empty may count as having one"
    " unit, of zeros, when the queues point at the commit log's end.",
    source=f"{_QUEUE}#truncateDirtyLogicFiles",
)
PLACE_IS_LOST = Clause(
    id="REC-QUEUE-005",
    level=Level.QUIRK,
    text="A queue whose first files were deleted as too old may begin again at offset 0"
    " when a start cuts off all units that are left; the offsets of its groups stay.",
    source=f"{_QUEUE}#truncateDirtyLogicFiles",
)
