"""
A blank fills what is left of a commit-log file when the next record does not fit.

It begins with its size and its own magic; the bytes after those mean nothing. A
record never spans two files, so a reader that meets a blank goes on with the next
file.
"""

from __future__ import annotations

from dataclasses import dataclass

from construct import Int32sb, Int32ub, Struct

from spec.clause import Clause, Level
from spec.layout import LayoutError, build, field, parse

BLANK_MAGIC = 0xCBD43194
"""Marks a blank (Java: BLANK_MAGIC_CODE, a signed -875286124)."""

_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"
_APPEND = f"{_LOG}$DefaultAppendMessageCallback"

BLANK_MAGIC_CLAUSE = Clause(
    id="STORE-BLANK-001",
    level=Level.MUST,
    text="Bytes 4 to 8 of a blank are BLANK_MAGIC_CODE, 0xCBD43194.",
    source=f"{_LOG}#BLANK_MAGIC_CODE",
)
BLANK_SIZE = Clause(
    id="STORE-BLANK-002",
    level=Level.MUST,
    text="A blank's size, its first 4 bytes, reaches to the end of the file.",
    source=f"{_APPEND}#doAppend",
)
BLANK_WHEN = Clause(
    id="STORE-BLANK-003",
    level=Level.MUST,
    text=(
        "A record goes to the next file if it and 8 more bytes do not fit in the "
        "rest of this one, and a blank takes its place."
    ),
    source=f"{_APPEND}#END_FILE_MIN_BLANK_LENGTH",
    hints=(
        ("a record ends less than 8 bytes before the end", "where would a blank go?"),
    ),
)
BLANK_REST = Clause(
    id="STORE-BLANK-004",
    level=Level.MUST,
    text="A reader ignores the bytes of a blank after its magic.",
    source=f"{_APPEND}#doAppend",
)

blank_layout = Struct(
    field("size", Int32sb, "bytes from here to the end of the file"),
    field("magic", Int32ub, "0xCBD43194"),
)
BLANK_SIZE_MIN = 8
"""A blank has at least its two words; every file keeps room for them."""
assert blank_layout.sizeof() == BLANK_SIZE_MIN


@dataclass(frozen=True, slots=True)
class Blank:
    """The end of a commit-log file that no record fitted into."""

    size: int
    """Bytes from its beginning to the end of the file."""


def encode_blank(blank: Blank) -> bytes:
    """Return the two words of *blank*; what follows them in the file is free."""
    if blank.size < BLANK_SIZE_MIN:
        reason = f"{blank.size} bytes, a blank has at least {BLANK_SIZE_MIN}"
        raise LayoutError(reason, field="size", offset=0)
    return build(blank_layout, {"size": blank.size, "magic": BLANK_MAGIC})


def decode_blank(data: bytes | memoryview) -> Blank:
    """Return the blank that begins *data*; ignore later bytes."""
    parsed = parse(blank_layout, data[:BLANK_SIZE_MIN])
    if parsed.magic != BLANK_MAGIC:
        reason = f"{parsed.magic:#010x} is not a blank's magic"
        raise LayoutError(reason, field="magic", offset=4)
    if parsed.size < BLANK_SIZE_MIN:
        reason = f"{parsed.size} bytes, a blank has at least {BLANK_SIZE_MIN}"
        raise LayoutError(reason, field="size", offset=0)
    return Blank(size=parsed.size)


def room_for(record_size: int, *, left: int) -> bool:
    """Return whether a record fits into the *left* bytes of a file and leaves 8."""
    return record_size + BLANK_SIZE_MIN <= left
