"""
How a member of a broadcasting group keeps how far it has come: in a file of its own.

Every member reads everything, so there is no offset of the group that a broker could
keep. The file is of one client id; a client whose id changes begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.wire.json_body import INTEGER, map_of, member, rest_of_members
from spec.wire.queue_name import QUEUE_NAME, QueueName

_STORE = "4.6.0 org.apache.rocketmq.client.consumer.store.LocalFileOffsetStore"

FOLDER = ".rocketmq_offsets"
"""In the user's home; in it a folder for each client id, in that one for each group."""
FILE = "offsets.json"
BACKUP = "offsets.json.bak"

KEPT_HERE = Clause(
    id="CLIENT-LOCAL-001",
    level=Level.MUST,
    text="A member of a broadcasting group keeps to itself how far it has come in each"
    " queue, and begins there when it is started again with the same client id; it"
    " commits nothing at brokers.",
    source=f"{_STORE}#persistAll",
)
OFFSETS_FILE = Clause(
    id="CLIENT-LOCAL-002",
    level=Level.MUST,
    text="The offsets of a broadcasting member are in ~/.rocketmq_offsets/CLIENT-ID/"
    "GROUP/offsets.json, as offsetTable, a map from queues, which are objects, to"
    " offsets; where that file is absent, empty or cannot be read, offsets.json.bak,"
    " the one before it, counts.",
    source=f"{_STORE}#readLocalOffset",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOffsets:
    """The file of one client's group (Java: OffsetSerializeWrapper)."""

    offsets: Mapping[QueueName, int] = member(
        "offsetTable", map_of(QUEUE_NAME, INTEGER), "where to go on", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()
