"""
Invariants between two stores of one log: master and slave, or before and after.
"""

from __future__ import annotations

from spark_checks.findings import Invariant
from spec.store import file_names
from spec.wire.ha import slave

SAME_BYTES = Invariant(
    id="INV-AGAINST-001",
    title="Two stores of one log have the same bytes at the same offset",
    requirement=slave.SAME_LOG,
    cost="A consumer that moves to the other store receives another message, or an"
    " unreadable one.",
)
SAME_MESSAGES = Invariant(
    id="INV-AGAINST-002",
    title="Between the later begin and the earlier end of two logs, each message is in"
    " both",
    requirement=slave.SAME_LOG,
    cost="Consumers of the store that lacks these messages never receive them.",
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
    cost="At the same queue offset a consumer receives another message, or none, from"
    " the other store. Committed offsets of groups are wrong there.",
)
AGAINST_INVARIANTS = (SAME_BYTES, SAME_MESSAGES, SAME_FILES, SAME_UNITS)
"""Invariants that need a second store."""
