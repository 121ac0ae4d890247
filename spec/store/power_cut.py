"""
What a power cut takes, and what a broker then makes of the rest.

A killed process leaves all it wrote, for the system writes it to disk later. A power
cut leaves what was flushed and, of the rest, any pages: a page of a consume queue
without the one before it, a file without its size, half of what lay on two pages.
``flushing`` says what is flushed when, ``recovery`` how a broker looks for the end of
what it has.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_QUEUE = "4.6.0 org.apache.rocketmq.store.ConsumeQueue"

PAGE_SIZE = 4096
"""What a system writes to disk at once."""
SECTOR_SIZE = 512
"""What a disk writes whole or not at all."""

UNITS_COME_BACK = Clause(
    id="REC-CUT-001",
    level=Level.MUST,
    text="Whichever pages and files of its consume queues a power cut took, a broker"
    " whose recovery begins before their records has every flushed message in its queue"
    " again, at its offset.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#recoverAbnormally",
    issues=(
        "apache/rocketmq#1434",
        "apache/rocketmq#467",
        "apache/rocketmq#7355",
        "apache/rocketmq#7599",
    ),
)
INDEX_COMES_BACK = Clause(
    id="REC-CUT-002",
    level=Level.MUST,
    text="Whichever pages of an index file that was not full a power cut took, a broker"
    " whose recovery begins before their records finds every flushed message by its"
    " key.",
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#load",
)
TAIL_IS_LEFT_OUT = Clause(
    id="REC-CUT-003",
    level=Level.MUST,
    text="Of the records behind the last flushed one a broker has those up to the first"
    " of which a power cut took header or body, whatever is there of later ones.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize",
)
TORN_TAGS_CODE = Clause(
    id="REC-CUT-004",
    level=Level.QUIRK,
    text="A unit on two pages of which a power cut took the second may keep a wrong"
    " tags code, although its record is dispatched again: a consumer who asks for the"
    " tag then never gets the message.",
    source=f"{_QUEUE}#putMessagePositionInfo",
)
TORN_OFFSET = Clause(
    id="REC-CUT-005",
    level=Level.QUIRK,
    text="A unit on two sectors of which a power cut took the first may keep the offset"
    " 0: its place in the queue then hands out what lies at the log's beginning.",
    source=f"{_QUEUE}#recover",
)
