"""Names and texts of others, without characters that a terminal would obey."""

from __future__ import annotations

import json


def printable(text: str) -> str:
    """Return *text* with a replacement for each character that is not printable.

    A line feed is one of them, as is a byte that is not UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text
    )


def printable_json(text: str) -> str:
    """Return JSON *text* with an escape for each character that is not printable."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)
