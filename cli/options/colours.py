"""
Colours for an explanation: errors are red, remarks are dim.

A pipe gets the same text without colours: click removes them.
"""

from __future__ import annotations

import re

import click

_FIELD = re.compile(r"(  [·✗] +\d+\.\.\d+ +)(\S+)(.*)")
_HEX = re.compile(r"( {0,4}[0-9a-f]{4,}  )([0-9a-f]{2} .*)")
_TITLE = re.compile(r"  (clauses|by release|known issues)( \(.*\))?")
_REMARK = "  # "


def coloured(text: str) -> str:
    """Return *text*, a view, with colours."""
    first, *lines = text.split("\n")
    return "\n".join([click.style(first, bold=True), *map(_coloured_line, lines)])


def _coloured_line(line: str) -> str:
    if line.strip(" ^") == "" and "^" in line:
        return click.style(line, fg="red", bold=True)
    if found := _HEX.fullmatch(line):
        return click.style(found[1], dim=True) + found[2]
    if _TITLE.fullmatch(line):
        return click.style(line, bold=True)
    if line.lstrip().startswith("# "):
        return click.style(line, dim=True)
    if line.lstrip().startswith("✗"):
        return click.style(line, fg="red", bold=True)
    field, remark, rest = line.partition(_REMARK)
    if found := _FIELD.fullmatch(field):
        field = click.style(found[1], dim=True) + click.style(found[2], fg="cyan")
        field += found[3]
    return field + click.style(remark + rest, dim=True) if remark else field
