"""
Invalid data between master and slave, and the slaves that a SYNC_MASTER waits for.

The bytes themselves are in ``replication``. Neither side authenticates the other, so
each must validate: a transfer that begins elsewhere, an impossible size, an offset
outside of the log.
"""

from __future__ import annotations

from spec.clause import Clause, Level

SLAVE_BUFFER_SIZE = 4 * 1024 * 1024
"""Bytes of a piece, header included, at most: a slave of 4.x keeps no more."""

_MASTER = "4.6.0 org.apache.rocketmq.store.ha.HAConnection"
_SLAVE = "4.6.0 org.apache.rocketmq.store.ha.HAService$HAClient"
_SERVICE = "4.6.0 org.apache.rocketmq.store.ha.HAService"
_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"

AHEAD_OF_THE_MASTER = Clause(
    id="HA-TRANSFER-011",
    level=Level.QUIRK,
    text=(
        "A slave that reports an offset past its master's max offset receives "
        "headers of size 0 with that offset, and nothing else until the log reaches "
        "it."
    ),
    source=f"{_MASTER}$WriteSocketService#run",
)
NO_NEGATIVE_OFFSET = Clause(
    id="HA-TRANSFER-012",
    level=Level.MUST,
    text="A slave that reports a negative offset receives no byte of the log.",
    source=f"{_MASTER}$WriteSocketService#run",
)
FIRST_PIECE_ANYWHERE = Clause(
    id="HA-TRANSFER-013",
    level=Level.MUST,
    text=(
        "A slave without a log accepts the first transfer that begins at a multiple "
        "of its file size, and its log begins with that file."
    ),
    source=f"{_LOG}#appendData",
)
IMPOSSIBLE_SIZE = Clause(
    id="HA-TRANSFER-014",
    level=Level.MUST,
    text=(
        "A slave appends nothing of a transfer whose body size is more than 4 MiB "
        "less 12 bytes."
    ),
    source=f"{_SLAVE}#dispatchReadRequest",
)
NEGATIVE_SIZE = Clause(
    id="HA-TRANSFER-018",
    level=Level.MUST,
    text=(
        "Up to 4.9.0, a slave appends nothing of a transfer with a negative body size."
    ),
    source=f"{_SLAVE}#dispatchReadRequest",
    until="4.9.0",
)
NEGATIVE_SIZE_UNCHECKED = Clause(
    id="HA-TRANSFER-019",
    level=Level.QUIRK,
    text=(
        "From 4.9.1 on, a transfer with a negative body size moves the end of the "
        "slave's log back by that size."
    ),
    source="4.9.1 org.apache.rocketmq.store.MappedFile#appendMessage;"
    " 5.3.3 org.apache.rocketmq.store.logfile.DefaultMappedFile#appendMessage",
    since="4.9.1",
    untestable="a slave whose log ends before its own files follows nobody any more,"
    " or names a negative offset: 5.3.3 did either",
)
APPENDED_THEN_REPORTED = Clause(
    id="HA-TRANSFER-015",
    level=Level.MUST,
    text=(
        "A slave reports an offset only when its commit log has every byte before it."
    ),
    source=f"{_SLAVE}#reportSlaveMaxOffsetPlus",
)
SLAVE_COMES_BACK = Clause(
    id="HA-TRANSFER-016",
    level=Level.MUST,
    text=(
        "A slave whose connection is lost reconnects and reports its max commit-log "
        "offset."
    ),
    source=f"{_SLAVE}#connectMaster",
)
SILENT_MASTER = Clause(
    id="HA-TRANSFER-017",
    level=Level.MUST,
    text=(
        "From 5.0 on, a slave closes the connection of a master that has been silent "
        "for haHousekeepingInterval."
    ),
    source="5.3.3 org.apache.rocketmq.store.ha.DefaultHAClient#run",
    since="5.0",
)

ANY_SLAVE_COUNTS = Clause(
    id="HA-WAIT-001",
    level=Level.MUST,
    text=(
        "A SYNC_MASTER, from 5.0 on with inSyncReplicas 2, answers SUCCESS (0) as "
        "soon as one slave has reported an offset at or past the end of the message."
    ),
    source=f"{_SERVICE}#notifyTransferSome",
)
SILENT_SLAVE_COUNTS = Clause(
    id="HA-WAIT-002",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a connected slave that has not reported is waited for, unless "
        "the log is longer than haSlaveFallbehindMax."
    ),
    source=f"{_SERVICE}#isSlaveOK",
    until="4.9",
)
FAR_BEHIND = Clause(
    id="HA-WAIT-003",
    level=Level.MUST,
    text=(
        "Up to 4.9, a SYNC_MASTER answers SLAVE_NOT_AVAILABLE (11) immediately if "
        "the message ends haSlaveFallbehindMax or more, 256 MiB by default, past the "
        "offsets that slaves reported."
    ),
    source=f"{_SERVICE}#isSlaveOK",
    until="4.9",
)
ASYNC_NEVER_WAITS = Clause(
    id="HA-WAIT-004",
    level=Level.MUST,
    text="An ASYNC_MASTER answers SUCCESS (0) regardless of its slaves.",
    source=f"{_LOG}#handleHA",
)
