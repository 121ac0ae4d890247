"""
A store's directory: its files, their times of creation and their sizes.

Names are in ``file_names``. Files of the commit log are created one after the other,
each in its full size; the next one may be preallocated.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_FILES = "4.6.0 org.apache.rocketmq.store.MappedFileQueue"
_CONFIG = "4.6.0 org.apache.rocketmq.store.config.MessageStoreConfig"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"

DIRECTORIES = Clause(
    id="STORE-NAME-007",
    level=Level.MUST,
    text="A store has the directories commitlog, consumequeue, index and config and the"
    " files checkpoint and lock below storePathRootDir, by default store in the user's"
    " home.",
    source="4.6.0 org.apache.rocketmq.store.config.StorePathConfigHelper",
)
FIRST_FILE = Clause(
    id="STORE-NAME-008",
    level=Level.MUST,
    text="The first commit-log file of a new store is named 20 zeros.",
    source=f"{_FILES}#getLastMappedFile",
    hints=(("19 zeros", "was a digit of the name left out?"),),
)
LOCK_WORD = Clause(
    id="STORE-NAME-009",
    level=Level.MAY,
    text="The file lock begins with the word lock.",
    source=f"{_STORE}#start",
)
LOG_FILE_DEFAULT = Clause(
    id="STORE-DEFAULT-001",
    level=Level.MUST,
    text="A commit-log file has 1,073,741,824 bytes by default.",
    source=f"{_CONFIG}#mappedFileSizeCommitLog",
)
QUEUE_FILE_DEFAULT = Clause(
    id="STORE-DEFAULT-002",
    level=Level.MUST,
    text="A consume-queue file has 300,000 units, 6,000,000 bytes, by default.",
    source=f"{_CONFIG}#mappedFileSizeConsumeQueue",
)
INDEX_FILE_DEFAULT = Clause(
    id="STORE-DEFAULT-003",
    level=Level.MUST,
    text="An index file has 5,000,000 slots and room for 20,000,000 items by default,"
    " 420,000,040 bytes.",
    source=f"{_CONFIG}#maxHashSlotNum",
)
FULL_SIZE_AT_ONCE = Clause(
    id="STORE-LOG-006",
    level=Level.MUST,
    text="A commit-log file has its full size as soon as it exists.",
    source="4.6.0 org.apache.rocketmq.store.MappedFile#init",
)
AHEAD = Clause(
    id="STORE-LOG-007",
    level=Level.MAY,
    text=(
        "A preallocated file of full size and all zeros may follow the file that is "
        "written."
    ),
    source="4.6.0 org.apache.rocketmq.store.AllocateMappedFileService"
    "#putRequestAndReturnMappedFile",
)
MADE_AHEAD = Clause(
    id="STORE-LOG-011",
    level=Level.MUST,
    text="Soon after a running broker begins a commit-log file, the next one exists.",
    source="4.6.0 org.apache.rocketmq.store.AllocateMappedFileService"
    "#putRequestAndReturnMappedFile",
)
UNUSED_IS_DELETED = Clause(
    id="STORE-LOG-012",
    level=Level.MUST,
    text="A clean stop deletes the preallocated commit-log file.",
    source="4.6.0 org.apache.rocketmq.store.AllocateMappedFileService#shutdown",
)
FILE_OF_AN_OFFSET = Clause(
    id="STORE-LOG-008",
    level=Level.MUST,
    text=(
        "A commit-log offset is in the file named the offset less its remainder by "
        "the file size, at that remainder, even when earlier files are deleted."
    ),
    source=f"{_FILES}#findMappedFileByOffset",
)
NOTHING_CHANGES = Clause(
    id="STORE-LOG-009",
    level=Level.MUST,
    text="Written bytes of the commit log are never changed by later messages.",
    source="4.6.0 org.apache.rocketmq.store.MappedFile#appendMessagesInner",
)
ALL_TOPICS = Clause(
    id="STORE-LOG-010",
    level=Level.MUST,
    text=(
        "Records of all topics and queues are in one commit log, in the order of "
        "their acceptance."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
DISPATCHED = Clause(
    id="STORE-DISPATCH-001",
    level=Level.MUST,
    text=(
        "A message has its unit and its index items soon after its response, without "
        "another request."
    ),
    source=f"{_STORE}$ReputMessageService#doReput",
)
DISPATCHED_IN_ORDER = Clause(
    id="STORE-DISPATCH-002",
    level=Level.MUST,
    text=(
        "A message is dispatched after all earlier records of the commit log: when "
        "it has its unit, they have theirs."
    ),
    source=f"{_STORE}$ReputMessageService#doReput",
)
NO_INDEX = Clause(
    id="STORE-DISPATCH-003",
    level=Level.QUIRK,
    text=(
        "A broker that cannot create an index file accepts messages but dispatches "
        "none after the first that it cannot index, until it can. The running flag "
        "that would refuse messages is never set."
    ),
    source="4.6.0 org.apache.rocketmq.store.index.IndexService"
    "#getAndCreateLastIndexFile",
)
