"""Values of a command's header in the form in which their reader thinks."""

from __future__ import annotations

import re

from spec.explain import SHOWN_MAX, ExplainedField
from spec.wire.remoting.command import CommandFlag
from spec.wire.remoting.request_code import request_name
from spec.wire.remoting.response_code import response_name

_CODE = re.compile(r"<\w+\.(\w+): (-?\d+)>")
"""An integer of an enumeration, as Python writes it."""


def named_codes(text: str) -> str:
    """Return *text* with each enumerated integer as its number and name."""
    return _CODE.sub(r"\2 \1", text)


def format_member(member: ExplainedField, is_response: bool) -> str:
    """Return the value of a header's *member*: codes and flags have their names."""
    text = member.text
    number = _integer(text)
    if number is None:
        return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}… ({len(text)})"
    if member.name == "code":
        name = (response_name if is_response else request_name)(number)
        return text if name == text else f"{number} {name}"
    if member.name == "flag" and number:
        return f"{number} ({flag_names(number)})"
    return text


def flag_names(flag: int) -> str:
    """Return the names of a command's flags, and what is left of them."""
    names = [one.name or "" for one in CommandFlag if flag & one]
    rest = flag & 0xFFFFFFFF & ~int(CommandFlag.RESPONSE | CommandFlag.ONEWAY)
    return " | ".join([*names, *([f"{rest:#x}"] if rest else [])])


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
