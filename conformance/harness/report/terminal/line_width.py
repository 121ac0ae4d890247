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
_FIELD = re.compile(r"(  [·✗] +\d+\.\.\d+ +)(\S+)(?: +(.*))?")
"""Mark and place of a field of an explanation, its name, and its value."""
_HEX_ROW = re.compile(r"( *[0-9a-f]{4,}  (?:[0-9a-f]{2} ?)+) *\|.*\|")
"""Row of hex, and behind it the same bytes as text."""
_REMARK = "  # "
"""Between a value and its meaning."""
_CODE = re.compile(r"`[^`]*`")
"""A command within a sentence, which stays in one line."""
_KEPT_BLANK = "\0"


def wrapped(text: str, indent: int = INDENT) -> str:
    """Return *text* with each line wrapped at the width of standard output."""
    return wrapped_at(line_width(is_terminal=sys.stdout.isatty()), text, indent)


def wrapped_at(width: int | None, text: str, indent: int = INDENT) -> str:
    """Return *text* with each line wrapped at *width*; None for lines of any length.

    Lines after the first are *indent* columns further right. A command or a path stays
    in one line, so that it can be copied. A field of an explanation has its remark in
    lines of its own, and bytes as hex are without their text.
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
    if len(line) <= width or _COPIED.match(line):
        return line
    if row := _HEX_ROW.fullmatch(line):
        return row[1].rstrip()
    text, _, remark = line.rpartition(_REMARK)
    if _FIELD.match(line) or text.strip():
        return _wrapped_field(text or line, remark if text else "", width)
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


def _wrapped_field(text: str, remark: str, width: int) -> str:
    """Return a value and its remark, below each other, at most *width* columns wide."""
    text = text.rstrip()
    field = _FIELD.fullmatch(text)
    column = len(field[1]) if field else len(text) - len(text.lstrip()) + INDENT
    indent = " " * column
    lines = [text]
    if len(text) > width:
        lines = [field[1] + field[2]] if field else []
        lines += textwrap.wrap(
            (field[3] or "") if field else text,
            width,
            initial_indent=indent if field else "",
            subsequent_indent=indent,
            drop_whitespace=False,
        )
    lines += textwrap.wrap(
        remark,
        width,
        initial_indent=f"{indent}# ",
        subsequent_indent=f"{indent}# ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)
