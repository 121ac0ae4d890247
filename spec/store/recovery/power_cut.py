"""
Losses in a power cut, and a broker's recovery of the rest.

A killed process leaves all that it wrote, because the system writes it to disk later. A
power cut leaves the flushed bytes and any other pages. A page of a consume queue may
survive without the previous one, a file without its size, or half of a unit.
``flushing`` has the times of flushes, ``recovery`` the search for the end.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_QUEUE = "4.6.0 org.apache.rocketmq.store.ConsumeQueue"

PAGE_SIZE = 4096
"""Bytes of a page, which a system writes to disk in one operation."""
SECTOR_SIZE = 512
"""Bytes of a sector, which a disk writes whole or not at all."""

UNITS_COME_BACK = Clause(
    id="REC-POWERCUT-001",
    level=Level.MUST,
    text=(
        "After a power cut that took any pages and files of consume queues, every "
        "flushed message is in its queue again, at its offset, if recovery begins "
        "before its record."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#recoverAbnormally",
    issues=(
        "apache/rocketmq#1434",
        "apache/rocketmq#467",
        "apache/rocketmq#7355",
        "apache/rocketmq#7599",
    ),
)
INDEX_COMES_BACK = Clause(
    id="REC-POWERCUT-002",
    level=Level.MUST,
    text=(
        "After a power cut that took any pages of an index file that was not full, "
        "every flushed message is found by its key if recovery begins before its "
        "record."
    ),
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#load",
)
TAIL_IS_LEFT_OUT = Clause(
    id="REC-POWERCUT-003",
    level=Level.MUST,
    text=(
        "A broker has the unflushed records before the first one whose header or "
        "body a power cut took, regardless of later ones."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize",
)
TORN_TAGS_CODE = Clause(
    id="REC-POWERCUT-004",
    level=Level.QUIRK,
    text=(
        "A unit on two pages of which a power cut took the second may keep a wrong "
        "tags code, although its record is dispatched again. A consumer of the tag "
        "then never gets the message."
    ),
    source=f"{_QUEUE}#putMessagePositionInfo",
)
TORN_OFFSET = Clause(
    id="REC-POWERCUT-005",
    level=Level.QUIRK,
    text=(
        "A unit on two sectors of which a power cut took the first may keep the "
        "offset 0. A pull of its queue offset then returns the record at the log's "
        "beginning."
    ),
    source=f"{_QUEUE}#recover",
)
