"""
A sender's implementation language and release.

A release is the position of its name in a Java enumeration that lists, for every
release, a snapshot first and then the release itself.
"""

from __future__ import annotations

from enum import IntEnum

from spec.clause import Clause, Level
from spec.layout import LayoutError

VERSION_IS_AN_ORDINAL = Clause(
    id="WIRE-VERSION-001",
    level=Level.SHOULD,
    text="A command's version is its sender's position in the list of releases: 293 is"
    " 4.4.0, 333 is 4.6.0.",
    source="4.6.0 org.apache.rocketmq.common.MQVersion#CURRENT_VERSION",
)


class LanguageCode(IntEnum):
    """Implementation language of the sender, as one byte of a ROCKETMQ header."""

    JAVA = 0
    CPP = 1
    DOTNET = 2
    PYTHON = 3
    DELPHI = 4
    ERLANG = 5
    RUBY = 6
    OTHER = 7
    HTTP = 8
    GO = 9
    PHP = 10
    OMS = 11
    RUST = 12
    """Since 5.0."""
    NODE_JS = 13
    """Since 5.3."""


class Version(IntEnum):
    """The releases that this specification studied (Java: MQVersion.Version).

    4.1.0 is there as the first to which clients send expressions that are no tags.
    """

    V4_1_0_SNAPSHOT = 232
    V4_4_0 = 293
    V4_5_2 = 317
    V4_6_0 = 333
    V4_9_7 = 407
    V5_3_3 = 479
    V5_4_0 = 493
    V5_5_0 = 513


_NAMES = {code.value: code.name for code in LanguageCode}
_CODES = {code.name: code.value for code in LanguageCode}


def language_name(code: int) -> str:
    """Return the name of the language byte *code*, or its digits where it has none."""
    return _NAMES.get(code, str(code))


def language_code(name: str) -> int:
    """Return the byte of a language's name, or of the digits that stand for one."""
    if name in _CODES:
        return _CODES[name]
    if name.isascii() and name.isdigit() and len(name) <= 3 and int(name) <= 255:
        return int(name)
    raise LayoutError(f"{name!r} is no language with a code", field="language")
