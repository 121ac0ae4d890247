"""
A request is a decoded command together with where and when it arrived.

Handlers read its header fields by name and type. A field that is absent, or is not
what its type says, ends the handler: the peer is answered with a system error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from spec.integers import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN

_RESPONSE_BIT = 1
_ONEWAY_BIT = 2
SURELY_INT64 = 19
"""Fewer decimal digits than that are never too large a number."""
SMALL_NUMBERS = {str(number): number for number in range(4096)}
"""What most numbers of 32 bits are: queue ids, flags, levels, times."""
_SIGNED = re.compile(r"[+-]\d+")


class FieldError(ValueError):
    """A header field that the handler needs is absent or malformed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the custom field <{name}> is null")


@dataclass(slots=True)
class Request:
    """A command from a peer. Made once a frame, so it is a plain mutable record."""

    code: int
    opaque: int
    flag: int
    fields: Mapping[str, object]
    body: bytes
    language: str
    version: int
    remark: str | None = None
    connection: int = 0
    """The connection it came by, and the one that its answer leaves by."""
    now_ms: int = 0
    """When it arrived."""

    @property
    def is_response(self) -> bool:
        """Whether this is an answer to something that we asked the peer."""
        return bool(self.flag & _RESPONSE_BIT)  # [WIRE-COMMAND-010]

    @property
    def is_oneway(self) -> bool:
        """Whether the peer wants no answer."""
        return bool(self.flag & _ONEWAY_BIT)

    def text(self, name: str) -> str:
        """Return the text field *name*."""
        value = self.fields.get(name)
        if value is None:
            raise FieldError(name)  # [WIRE-CONN-016]
        return value if type(value) is str else _json_text(value)

    def text_or_null(self, name: str) -> str:
        """Return the text field *name*; ``null``, as Java writes it, where absent."""
        # [WIRE-COMMAND-007]
        return "null" if self.fields.get(name) is None else self.text(name)

    def optional_text(self, name: str) -> str | None:
        """Return the text field *name*, or None where it is absent."""
        value = self.fields.get(name)
        if value is None or type(value) is str:
            return value
        return _json_text(value)

    def int32(self, name: str) -> int:
        """Return the field *name*, a Java int."""
        text = self.fields.get(name)
        if type(text) is str:
            small = SMALL_NUMBERS.get(text)
            if small is not None:
                return small  # as nearly always
        value = self._number(name)
        if value is None or not INT32_MIN <= value <= INT32_MAX:  # [WIRE-CONN-017]
            raise FieldError(name)
        return value

    def int64(self, name: str) -> int:
        """Return the field *name*, a Java long."""
        text = self.fields.get(name)
        if type(text) is str and len(text) < SURELY_INT64 and text.isdecimal():
            return int(text)  # as nearly always
        value = self._number(name)
        if value is None or not INT64_MIN <= value <= INT64_MAX:
            raise FieldError(name)
        return value

    def optional_int32(self, name: str, default: int = 0) -> int:
        """Return the field *name*; *default* where it is absent or malformed."""
        text = self.fields.get(name)
        if type(text) is str:
            small = SMALL_NUMBERS.get(text)
            if small is not None:
                return small  # as nearly always
        value = self._number(name)
        if value is None or not INT32_MIN <= value <= INT32_MAX:  # [WIRE-COMMAND-008]
            return default
        return value

    def truth(self, name: str) -> bool:
        """Return the boolean field *name*; everything but ``true`` is false."""
        value = self.fields.get(name)
        # Nearly always it is one of these.
        if value is None or value == "false":
            return False
        return str(value).lower() == "true"

    def _number(self, name: str) -> int | None:
        value = self.fields.get(name)
        if isinstance(value, str):
            if value.isdecimal() or _SIGNED.fullmatch(value):
                return int(value) if len(value) <= 20 else None
            return None
        return value if isinstance(value, int) else None


def _json_text(value: object) -> str:
    """Return a JSON value as Java's JSON reader puts it into a text field."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
