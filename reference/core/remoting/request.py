"""
Requests: decoded commands with the connection and the time of their arrival.

A handler reads header fields by name and type. A required field that is absent or
malformed raises `FieldError`, which becomes a SYSTEM_ERROR response.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from spec.derive.header_decoder import HeaderField, header_decoder
from spec.integers import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from spec.wire.remoting.command import CommandFlag
from spec.wire.remoting.response_code import ResponseCode

RESPONSE_BIT = int(CommandFlag.RESPONSE)  # [WIRE-COMMAND-010]
ONEWAY_BIT = int(CommandFlag.ONEWAY)
"""Bits of a command's flag; a member of an enumeration is slow to look up."""
_NUMBER = re.compile(r"[+-]?\d{1,20}")


class Refused(Exception):
    """A request that a handler's check refused, with response code and remark.

    `RemotingServer` turns it into an error response. It is no failure of the server.
    """

    def __init__(self, code: int, remark: str) -> None:
        super().__init__(remark)
        self.code = code
        self.remark = remark


class FieldError(Refused):
    """A header field that the handler needs is absent or malformed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            ResponseCode.SYSTEM_ERROR, f"the custom field <{name}> is null"
        )


class Request(Struct):
    """A command from a peer: a request, or a response to a request of this server."""

    code: int
    opaque: int
    flag: int
    fields: Mapping[str, str]
    body: bytes
    language: str
    version: int
    remark: str | None = None
    connection: int = 0
    """The number of the connection it arrived on; the response is sent there."""
    now_ms: int = 0
    """The time of arrival."""

    def text(self, name: str) -> str:
        """Return the required text field *name*."""
        value = self.fields.get(name)
        if value is None:
            raise FieldError(name)  # [WIRE-CONN-016]
        return value

    def text_or_null(self, name: str) -> str:
        """Return the text field *name*; ``null``, as Java writes it, where absent."""
        return self.fields.get(name, "null")  # [WIRE-COMMAND-007]

    def optional_text(self, name: str) -> str | None:
        """Return the text field *name*, or None where it is absent."""
        return self.fields.get(name)

    def int32(self, name: str) -> int:
        """Return the required field *name*, a Java int."""
        value = self._number(name)
        if value is None or not INT32_MIN <= value <= INT32_MAX:  # [WIRE-CONN-017]
            raise FieldError(name)
        return value

    def int64(self, name: str) -> int:
        """Return the required field *name*, a Java long."""
        value = self._number(name)
        if value is None or not INT64_MIN <= value <= INT64_MAX:
            raise FieldError(name)
        return value

    def optional_int32(self, name: str, default: int = 0) -> int:
        """Return the Java int *name*; *default* where it is absent or malformed."""
        value = self._number(name)
        if value is None or not INT32_MIN <= value <= INT32_MAX:  # [WIRE-COMMAND-008]
            return default
        return value

    def optional_int64(self, name: str) -> int | None:
        """Return the Java long *name*; None where it is absent or malformed."""
        value = self._number(name)
        return value if value is None or INT64_MIN <= value <= INT64_MAX else None

    def truth(self, name: str) -> bool:
        """Return the boolean field *name*; each text but ``true`` is false."""
        return self.fields.get(name, "false").lower() == "true"

    def _number(self, name: str) -> int | None:
        text = self.fields.get(name)
        if text is None or not _NUMBER.fullmatch(text):
            return None
        return int(text)


Value = TypeVar("Value")


def demand(value: Value | None, name: str) -> Value:
    """Return the value of a field that this request needs; raise FieldError."""
    if value is None:
        raise FieldError(name)
    return value


Header = TypeVar("Header", bound=tuple[Any, ...])


def request_decoder(
    header: type[Header], fields: Sequence[HeaderField]
) -> Callable[[Request], Header]:
    """Return the decoder of a typed header, which raises FieldError."""
    return header_decoder(header, fields, _READERS)


def _optional_int32(request: Request, name: str) -> int | None:
    number = request.optional_int32(name, INT32_MIN - 1)
    return None if number < INT32_MIN else number


_READERS: Mapping[tuple[str, bool], Callable[[Request, str], object]] = {
    ("String", True): Request.text,
    ("String", False): Request.optional_text,
    ("Integer", True): Request.int32,
    ("Integer", False): _optional_int32,
    ("Long", True): Request.int64,
    ("Long", False): Request.optional_int64,
    ("boolean", False): Request.truth,
    ("Boolean", False): Request.truth,
}
"""Readers by Java type, and by whether the field must be there."""
