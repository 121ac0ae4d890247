"""
What is true of two stores of one log: a master and its slave, before and after.
"""

from __future__ import annotations

from spark_checks.findings import Invariant
from spec.store import file_names
from spec.wire import slave

SAME_BYTES = Invariant(
    id="INV-AGAINST-001",
    title="Two stores of one log have the same bytes at the same offset",
    requirement=slave.SAME_LOG,
    cost="A consumer that moves to the other store is given another message, or an"
    " unreadable one.",
)
SAME_MESSAGES = Invariant(
    id="INV-AGAINST-002",
    title="Between the later begin and the earlier end of two logs, each message of the"
    " one is in the other",
    requirement=slave.SAME_LOG,
    cost="Whoever consumes from the store that lacks these messages never sees them.",
)
SAME_FILES = Invariant(
    id="INV-AGAINST-003",
    title="Between the later begin and the earlier end, both logs have files",
    requirement=file_names.NAME_FOLLOWS,
    cost="All messages of the missing range are on one side only.",
)
SAME_UNITS = Invariant(
    id="INV-AGAINST-004",
    title="Two stores of one log have the same consume queues",
    requirement=slave.SAME_QUEUES,
    cost="At the same queue offset a consumer is given another message, or none, on the"
    " other store: offsets that groups have committed are worth nothing there.",
)
AGAINST_INVARIANTS = (SAME_BYTES, SAME_MESSAGES, SAME_FILES, SAME_UNITS)
"""They are asked only where there is a store to compare with."""
