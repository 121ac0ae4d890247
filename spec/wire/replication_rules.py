"""
What master and slave make of each other's words when these are odd, and whom a
SYNC_MASTER waits for.

The bytes themselves are in ``replication``. Neither side signs what it says, so each
must check it: a piece that begins elsewhere, a size that cannot be, an offset that the
log does not have.
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
    text="A slave that names an offset behind the end of its master's log is sent"
    " headers of size 0 with this offset, and nothing else while the log has no byte"
    " there.",
    source=f"{_MASTER}$WriteSocketService#run",
)
NO_NEGATIVE_OFFSET = Clause(
    id="HA-TRANSFER-012",
    level=Level.MUST,
    text="A slave that names a negative offset is sent no byte of the log.",
    source=f"{_MASTER}$WriteSocketService#run",
)
FIRST_PIECE_ANYWHERE = Clause(
    id="HA-TRANSFER-013",
    level=Level.MUST,
    text="A slave without a log takes the first piece that begins at a file of its own"
    " size, and its log begins with that file.",
    source=f"{_LOG}#appendData",
)
IMPOSSIBLE_SIZE = Clause(
    id="HA-TRANSFER-014",
    level=Level.MUST,
    text="A slave appends nothing of a piece whose size is more than 4 MiB less 12"
    " bytes.",
    source=f"{_SLAVE}#dispatchReadRequest",
)
NEGATIVE_SIZE = Clause(
    id="HA-TRANSFER-018",
    level=Level.MUST,
    text="A slave appends nothing of a piece whose size is negative.",
    source=f"{_SLAVE}#dispatchReadRequest",
    until="4.9.0",
)
NEGATIVE_SIZE_UNCHECKED = Clause(
    id="HA-TRANSFER-019",
    level=Level.QUIRK,
    text="A slave moves the end of its log back by a piece's negative size.",
    source="4.9.1 org.apache.rocketmq.store.MappedFile#appendMessage;"
    " 5.3.3 org.apache.rocketmq.store.logfile.DefaultMappedFile#appendMessage",
    since="4.9.1",
    untestable="a slave whose log ends before its own files follows nobody any more,"
    " or names a negative offset: 5.3.3 did either",
)
APPENDED_THEN_REPORTED = Clause(
    id="HA-TRANSFER-015",
    level=Level.MUST,
    text="A slave names an offset only when its commit log has every byte before it.",
    source=f"{_SLAVE}#reportSlaveMaxOffsetPlus",
)
SLAVE_COMES_BACK = Clause(
    id="HA-TRANSFER-016",
    level=Level.MUST,
    text="A slave whose connection is gone connects again and names its log's end.",
    source=f"{_SLAVE}#connectMaster",
)
SILENT_MASTER = Clause(
    id="HA-TRANSFER-017",
    level=Level.MUST,
    text="A slave closes the connection of a master that has been silent for"
    " haHousekeepingInterval.",
    source="5.3.3 org.apache.rocketmq.store.ha.DefaultHAClient#run",
    since="5.0",
)

ANY_SLAVE_COUNTS = Clause(
    id="HA-WAIT-001",
    level=Level.MUST,
    text="A SYNC_MASTER answers SUCCESS as soon as one slave has named an offset that"
    " is not before the end of the message.",
    source=f"{_SERVICE}#notifyTransferSome",
)
SILENT_SLAVE_COUNTS = Clause(
    id="HA-WAIT-002",
    level=Level.QUIRK,
    text="A slave that is connected and has said nothing is waited for, unless the log"
    " is longer than haSlaveFallbehindMax.",
    source=f"{_SERVICE}#isSlaveOK",
    until="4.9",
)
FAR_BEHIND = Clause(
    id="HA-WAIT-003",
    level=Level.MUST,
    text="A SYNC_MASTER answers SLAVE_NOT_AVAILABLE (11) at once when the message ends"
    " haSlaveFallbehindMax or more, 256 MiB by default, behind what slaves have named.",
    source=f"{_SERVICE}#isSlaveOK",
    until="4.9",
)
ASYNC_NEVER_WAITS = Clause(
    id="HA-WAIT-004",
    level=Level.MUST,
    text="An ASYNC_MASTER answers SUCCESS whatever its slaves have.",
    source=f"{_LOG}#handleHA",
)
