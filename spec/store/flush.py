"""
Flushes of a store's files to disk, and losses in a crash.

A broker writes into mapped memory and flushes later, unless flushDiskType is
SYNC_FLUSH. The settings are those that an operator reads and changes.
"""

from __future__ import annotations

from types import MappingProxyType

from spec.clause import Clause, Level

_CONFIG = "4.6.0 org.apache.rocketmq.store.config.MessageStoreConfig"
_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"
_POOL = "4.6.0 org.apache.rocketmq.store.TransientStorePool"

DEFAULTS = MappingProxyType(
    {
        "STORE-DEFAULT-004": {
            "flushDiskType": "ASYNC_FLUSH",
            "brokerRole": "ASYNC_MASTER",
        },
        "STORE-DEFAULT-005": {
            "flushIntervalCommitLog": "500",
            "flushCommitLogLeastPages": "4",
            "flushCommitLogThoroughInterval": "10000",
        },
        "STORE-DEFAULT-006": {
            "flushIntervalConsumeQueue": "1000",
            "flushConsumeQueueLeastPages": "2",
            "flushConsumeQueueThoroughInterval": "60000",
        },
        "STORE-DEFAULT-007": {"syncFlushTimeout": "5000"},
        "STORE-DEFAULT-008": {
            "transientStorePoolEnable": "false",
            "transientStorePoolSize": "5",
            "commitIntervalCommitLog": "200",
            "commitCommitLogLeastPages": "4",
            "commitCommitLogThoroughInterval": "200",
        },
        "STORE-DEFAULT-009": {"fileReservedTime": "72", "deleteWhen": "04"},
        "STORE-DEFAULT-010": {"maxMessageSize": "4194304"},
        "STORE-DEFAULT-011": {
            "checkCRCOnRecover": "true",
            "messageIndexEnable": "true",
            "messageIndexSafe": "false",
        },
    }
)
"""Settings of each clause, and their default values."""

ASYNC_BY_DEFAULT = Clause(
    id="STORE-DEFAULT-004",
    level=Level.MUST,
    text="flushDiskType is ASYNC_FLUSH and brokerRole ASYNC_MASTER by default.",
    source=f"{_CONFIG}#flushDiskType",
)
LOG_FLUSH = Clause(
    id="STORE-DEFAULT-005",
    level=Level.MUST,
    text=(
        "By default the commit log is flushed every 500 ms if 4 pages are dirty, and "
        "every 10 seconds regardless of the number."
    ),
    source=f"{_LOG}$FlushRealTimeService#run",
)
QUEUE_FLUSH = Clause(
    id="STORE-DEFAULT-006",
    level=Level.MUST,
    text=(
        "By default a consume queue is flushed every second if 2 pages are dirty, "
        "and every 60 seconds regardless of the number."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
    "$FlushConsumeQueueService#doFlush",
)
SYNC_TIMEOUT = Clause(
    id="STORE-DEFAULT-007",
    level=Level.MUST,
    text="syncFlushTimeout is 5000 ms by default.",
    source=f"{_CONFIG}#syncFlushTimeout",
)
POOL_DEFAULT = Clause(
    id="STORE-DEFAULT-008",
    level=Level.MUST,
    text=(
        "By default transientStorePoolEnable is false, transientStorePoolSize is 5, "
        "and the pool is committed every 200 ms."
    ),
    source=f"{_POOL}#poolSize",
)
KEPT_FOR = Clause(
    id="STORE-DEFAULT-009",
    level=Level.MUST,
    text="By default files are kept for 72 hours and deleted at 4 o'clock.",
    source=f"{_CONFIG}#fileReservedTime",
)
MESSAGE_SIZE = Clause(
    id="STORE-DEFAULT-010",
    level=Level.MUST,
    text="maxMessageSize is 4,194,304 bytes by default.",
    source=f"{_CONFIG}#maxMessageSize",
)
RECOVERY_CHECKS = Clause(
    id="STORE-DEFAULT-011",
    level=Level.MUST,
    text=(
        "By default checkCRCOnRecover and messageIndexEnable are true and "
        "messageIndexSafe is false."
    ),
    source=f"{_CONFIG}#checkCRCOnRecover",
)
SYNC_FLUSH = Clause(
    id="STORE-FLUSH-001",
    level=Level.MUST,
    text=(
        "With SYNC_FLUSH a message whose WAIT is not false is on disk when SUCCESS "
        "(0) is answered: no crash takes it."
    ),
    source=f"{_LOG}#handleDiskFlush",
)
ASYNC_FLUSH = Clause(
    id="STORE-FLUSH-002",
    level=Level.MUST,
    text=(
        "With ASYNC_FLUSH and no transient store pool, killing the broker's process "
        "loses no acknowledged message."
    ),
    source=f"{_LOG}#handleDiskFlush",
)
POOL = Clause(
    id="STORE-FLUSH-003",
    level=Level.QUIRK,
    text=(
        "With transientStorePoolEnable a message may be acknowledged before it is in "
        "the commit log's file, and killing the process may lose it."
    ),
    source="4.6.0 org.apache.rocketmq.store.MappedFile#commit",
)
CHECKPOINT_FOLLOWS = Clause(
    id="STORE-FLUSH-004",
    level=Level.MUST,
    text=(
        "The checkpoint's first time advances only by full flushes, so it is never "
        "ahead of the disk."
    ),
    source="4.6.0 org.apache.rocketmq.store.MappedFileQueue#flush",
)
CHECKPOINT_IS_AHEAD = Clause(
    id="STORE-FLUSH-005",
    level=Level.QUIRK,
    text=(
        "The checkpoint's second time may be that of a unit that is not on disk yet: "
        "units before it that a power cut took are then not dispatched again."
    ),
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfoWrapper",
    issues=("apache/rocketmq#678", "apache/rocketmq#10073"),
)
POOL_HIDES = Clause(
    id="STORE-FLUSH-006",
    level=Level.QUIRK,
    text=(
        "Messages in the transient store pool are not readable: the queue's max "
        "offset excludes them, and their msgId finds nothing."
    ),
    source="4.6.0 org.apache.rocketmq.store.MappedFile#getReadPosition",
)
POOL_COMMITS = Clause(
    id="STORE-FLUSH-007",
    level=Level.MUST,
    text=(
        "The transient store pool is committed to the commit log when it holds "
        "commitCommitLogLeastPages pages, and every commitCommitLogThoroughInterval "
        "milliseconds regardless of its size."
    ),
    source=f"{_LOG}$CommitRealTimeService#run",
)
POOL_IS_IGNORED = Clause(
    id="STORE-FLUSH-008",
    level=Level.MUST,
    text=(
        "Up to 4.9, transientStorePoolEnable has no effect with SYNC_FLUSH, nor on a "
        "slave."
    ),
    source=f"{_CONFIG}#isTransientStorePoolEnable",
    until="4.9",
)
POOL_IS_FOR_NEW_FILES = Clause(
    id="STORE-FLUSH-009",
    level=Level.QUIRK,
    text=(
        "A commit-log file that existed when the broker started has no buffer of the "
        "transient store pool: messages are in the file when they are acknowledged."
    ),
    source="4.6.0 org.apache.rocketmq.store.MappedFileQueue#load",
)
REFUSED_FLUSH = Clause(
    id="STORE-FLUSH-010",
    level=Level.QUIRK,
    text=(
        "A flush that the disk refuses is logged and counts as done: the message is "
        "answered with SUCCESS (0)."
    ),
    source="4.6.0 org.apache.rocketmq.store.MappedFile#flush",
    untestable="no disk of a target can be made to refuse; our reference answers"
    " FLUSH_DISK_TIMEOUT and flushes again",
)
