"""
Responses to a send while the broker itself has a problem.

Some states refuse the message. In others the message is stored but not yet flushed or
replicated. The response then has a code of its own, and the message's id and offset.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_SEND = "4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"

START_ACCEPT_TIME = Clause(
    id="SEND-STATE-001",
    level=Level.MUST,
    text="Before the time startAcceptSendRequestTimeStamp a broker refuses every"
    " message with SYSTEM_ERROR (1).",
    source=f"{_SEND}#sendMessage",
)
SLAVE = Clause(
    id="SEND-STATE-002",
    level=Level.MUST,
    text="Up to 4.9, a slave refuses every message with SERVICE_NOT_AVAILABLE (14).",
    source=f"{_STORE}#putMessage",
    until="4.9",
)
SLAVE_IS_BUSY = Clause(
    id="SEND-STATE-013",
    level=Level.MUST,
    text="From 5.0 on, a slave refuses every message with SYSTEM_BUSY (2).",
    source="5.3.3 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#rejectRequest",
    since="5.0",
)
DISK_FULL = Clause(
    id="SEND-STATE-003",
    level=Level.MUST,
    text=(
        "A broker refuses every message with SERVICE_NOT_AVAILABLE (14) while the "
        "disk of its commit log or its consume queues is more than 90 % full. It "
        "accepts messages again when the disk is 85 % full or less."
    ),
    source=f"{_STORE}$CleanCommitLogService#diskSpaceWarningLevelRatio",
)
DISK_STAYS_FULL = Clause(
    id="SEND-STATE-016",
    level=Level.QUIRK,
    text=(
        "Up to 4.7.0, a broker that refuses messages because of a full disk "
        "continues to do so while the disk is more than 85 % full."
    ),
    source=f"{_STORE}$CleanCommitLogService#isSpaceToDelete",
    until="4.7.0",
)
DISK_IS_LOOKED_AT = Clause(
    id="SEND-STATE-017",
    level=Level.MUST,
    text=(
        "From 4.7.1 to 4.9, a broker that refuses messages because of a full disk "
        "accepts them again some seconds after the disk is 90 % full or less."
    ),
    source="4.9.7 org.apache.rocketmq.store.DefaultMessageStore$CleanCommitLogService"
    "#isSpaceFull",
    since="4.7.1",
    until="4.9",
)
DISK_STAYS_FULL_AGAIN = Clause(
    id="SEND-STATE-018",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, a broker that refuses messages because of a full disk "
        "continues to do so while the disk is more than 85 % full."
    ),
    source="5.3.3 org.apache.rocketmq.store.DefaultMessageStore$CleanCommitLogService"
    "#isSpaceToDelete",
    since="5.0",
)
QUEUE_ERROR = Clause(
    id="SEND-STATE-004",
    level=Level.MUST,
    text=(
        "A broker that could not write a consume queue in 30 attempts, a second "
        "apart, refuses every message with SERVICE_NOT_AVAILABLE (14) until it is "
        "restarted."
    ),
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfoWrapper",
)
STOPPING = Clause(
    id="SEND-STATE-005",
    level=Level.MUST,
    text=(
        "A broker that is stopping refuses every message with SERVICE_NOT_AVAILABLE "
        "(14), or sends no response."
    ),
    source=f"{_STORE}#putMessage",
)
PAGE_CACHE_BUSY = Clause(
    id="SEND-STATE-006",
    level=Level.MUST,
    text=(
        "While the append of one message takes longer than "
        "osPageCacheBusyTimeOutMills, 1000 by default, others are refused with "
        "SYSTEM_BUSY (2), or with SYSTEM_ERROR (1) if detected later."
    ),
    source=f"{_STORE}#isOSPageCacheBusy",
)
NO_FILE = Clause(
    id="SEND-STATE-007",
    level=Level.MUST,
    text=(
        "A message for which no commit-log file can be created is refused with "
        "SYSTEM_ERROR (1)."
    ),
    source=f"{_LOG}#putMessage",
)
LONELY_MASTER = Clause(
    id="SEND-STATE-008",
    level=Level.MUST,
    text=(
        "Up to 4.9, a SYNC_MASTER without a slave that keeps up stores the message "
        "and answers SLAVE_NOT_AVAILABLE (11), with the message's id and offset."
    ),
    source=f"{_LOG}#handleHA",
    until="4.9",
)
LONELY_MASTER_LATER = Clause(
    id="SEND-STATE-009",
    level=Level.MUST,
    text=(
        "From 5.0 on, a SYNC_MASTER without a slave answers SUCCESS (0) unless "
        "inSyncReplicas is more than 1."
    ),
    source="5.3.3 org.apache.rocketmq.store.CommitLog#handleHA",
    since="5.0",
)
NOT_WAITED_FOR = Clause(
    id="SEND-STATE-010",
    level=Level.MUST,
    text=(
        "A message whose property WAIT is false is answered with SUCCESS (0) after "
        "its append, without waiting for flush or replication."
    ),
    source=f"{_LOG}#handleHA",
)
FLUSH_IS_LATE = Clause(
    id="SEND-STATE-011",
    level=Level.MUST,
    text=(
        "With SYNC_FLUSH, a message that is not on disk after syncFlushTimeout, 5000 "
        "ms by default, is answered with FLUSH_DISK_TIMEOUT (10), its id and offset, "
        "and stays stored."
    ),
    source=f"{_LOG}#handleDiskFlush",
)
SLAVE_IS_LATE = Clause(
    id="SEND-STATE-012",
    level=Level.MUST,
    text=(
        "A SYNC_MASTER whose slave does not have the message in time answers "
        "FLUSH_SLAVE_TIMEOUT (12), with the message's id and offset."
    ),
    source=f"{_LOG}#handleHA",
)
POOL_IS_EMPTY = Clause(
    id="SEND-STATE-014",
    level=Level.QUIRK,
    text=(
        "With transientStorePoolEnable, while every buffer of the pool is in use, "
        "messages are refused with SYSTEM_BUSY (2). The current commit-log file uses "
        "one buffer, and the preallocated next file another."
    ),
    source=f"{_STORE}#isTransientStorePoolDeficient",
)
LATE_AT_ONCE = Clause(
    id="SEND-STATE-015",
    level=Level.QUIRK,
    text=(
        "Up to 4.6, with SYNC_FLUSH, the first message of a commit-log file, except "
        "of the log, may be answered with FLUSH_DISK_TIMEOUT (10) although it is on "
        "disk. The message needs two flushes, and the result of the second is not "
        "checked."
    ),
    source=f"{_LOG}$GroupCommitService#doCommit",
    until="4.6",
)
REGION = Clause(
    id="SEND-RESPONSE-005",
    level=Level.MUST,
    text=(
        "MSG_REGION and TRACE_ON of a response are the broker's settings regionId, "
        "DefaultRegion by default, and traceOn."
    ),
    source=f"{_SEND}#sendMessage",
)
