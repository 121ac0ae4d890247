"""Names and texts of others, without characters that a terminal would obey."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return *text* with a replacement for each character that is not printable.

    A line feed is one of them, as is a byte that is not UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text
    )
