"""
Local offsets of a broadcasting group's member: in a file of its own.

Every member reads everything, so there is no offset of the group that a broker could
keep. The file is of one client id; a client whose id changes begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from spec.clause import Clause, Level
from spec.wire.bodies.json_body import Member, OpenBody
from spec.wire.bodies.queue_name import QueueName

_STORE = "4.6.0 org.apache.rocketmq.client.consumer.store.LocalFileOffsetStore"

FOLDER = ".rocketmq_offsets"
"""In the user's home; in it a folder for each client id, in that one for each group."""
FILE = "offsets.json"
BACKUP = "offsets.json.bak"

KEPT_HERE = Clause(
    id="CLIENT-LOCALOFFSET-001",
    level=Level.MUST,
    text=(
        "A member of a BROADCASTING group stores its offsets locally, begins there "
        "after a restart with the same client id, and commits nothing at brokers."
    ),
    source=f"{_STORE}#persistAll",
)
OFFSETS_FILE = Clause(
    id="CLIENT-LOCALOFFSET-002",
    level=Level.MUST,
    text=(
        "The offsets of a BROADCASTING member are in "
        "~/.rocketmq_offsets/CLIENT-ID/GROUP/offsets.json, as offsetTable, a map "
        "whose keys are queues. If that file is absent, empty or unreadable, the "
        "previous one, offsets.json.bak, is read."
    ),
    source=f"{_STORE}#readLocalOffset",
)


class LocalOffsets(OpenBody, frozen=True, kw_only=True):
    """The file of one client's group (Java: OffsetSerializeWrapper)."""

    offsets: Annotated[
        Mapping[QueueName, int], Member("offsetTable", "where to go on")
    ] = {}
