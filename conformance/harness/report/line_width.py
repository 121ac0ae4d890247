"""
Width of lines: that of the terminal, or of the variable COLUMNS.

A pipe without COLUMNS gets whole lines, so that grep and other programs find them.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap

TEXT_MIN = 40
"""Least width of an indented text; with less, its indent is `INDENT`."""
INDENT = 2
CUT = "..."
_COPIED = re.compile(
    r"(?:\x1b\[[0-9;]*m)?\s*(?:(?:again|next) +)?(?:rmqc |cp -|mv /|/)"
)
"""Begin of a line to copy: a command or a path. It is never wrapped."""
_CODE = re.compile(r"`[^`]*`")
"""A command within a sentence, which stays in one line."""
_KEPT_BLANK = "\0"


def wrapped(text: str, indent: int = INDENT) -> str:
    """Return *text* with each line wrapped at the width of standard output."""
    return wrapped_at(line_width(is_terminal=sys.stdout.isatty()), text, indent)


def wrapped_at(width: int | None, text: str, indent: int = INDENT) -> str:
    """Return *text* with each line wrapped at *width*; None for lines of any length.

    Lines after the first are *indent* columns further right. A command or a path stays
    in one line, so that it can be copied.
    """
    if width is None:
        return text
    return "\n".join(_wrapped_line(line, width, indent) for line in text.split("\n"))


def cut_at(width: int | None, line: str) -> str:
    """Return *line* without its end, if it is wider than *width*."""
    if width is None or len(line) <= width:
        return line
    return line[: width - len(CUT)].rstrip() + CUT


def line_width(*, is_terminal: bool) -> int | None:
    """Return the width of an output in columns, or None for lines of any length."""
    if is_terminal or os.environ.get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size().columns
    return None


def _wrapped_line(line: str, width: int, indent: int) -> str:
    if _COPIED.match(line):
        return line
    line = _CODE.sub(lambda code: code[0].replace(" ", _KEPT_BLANK), line)
    before = len(line) - len(line.lstrip())
    after = before + (indent if width - indent >= TEXT_MIN else INDENT)
    filled = textwrap.fill(
        line,
        max(width, after + 1),
        subsequent_indent=" " * after,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(_KEPT_BLANK, " ")
