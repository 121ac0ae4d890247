"""
Width of lines: that of the terminal, or of the variable COLUMNS.

A pipe without COLUMNS gets whole lines, so that grep and other programs find them.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

TEXT_MIN = 40
"""Least width of an indented text; with less, its indent is `INDENT`."""
INDENT = 2


def wrapped(text: str, indent: int = INDENT) -> str:
    """Return *text* with each line wrapped at the width of the output.

    Lines after the first are *indent* columns further right. A command of ours stays in
    one line, so that it can be copied.
    """
    width = line_width()
    if width is None:
        return text
    lines = (_wrapped_line(line, width, indent) for line in text.split("\n"))
    return "\n".join(lines)


def line_width() -> int | None:
    """Return the width in columns, or None if lines may have any length."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return None


def _wrapped_line(line: str, width: int, indent: int) -> str:
    if line.lstrip().startswith("rmqc "):
        return line
    before = len(line) - len(line.lstrip())
    after = before + (indent if width - indent >= TEXT_MIN else INDENT)
    return textwrap.fill(
        line,
        max(width, after + 1),
        subsequent_indent=" " * after,
        break_long_words=False,
        break_on_hyphens=False,
    )
