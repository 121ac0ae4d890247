"""
JSON as RocketMQ's bodies and headers are written: the dialect of fastjson.

It is JSON with a few liberties. Keys of a map may be bare integers
(``{0:"127.0.0.1:10911"}``) or whole objects (``{{"queueId":0,...}:{...}}``),
because Java's maps may have such keys. Names may stand without quotes or in
single ones. All studied releases also read texts that were edited by hand. They have
a byte order mark, comments, a comma behind the last member, or zeros at the end.
Everything else is RFC 8259.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from json.scanner import make_scanner
from typing import NoReturn

from spec.clause import Clause, Level
from spec.layout import LayoutError

DEPTH_MAX = 64
"""Values nested deeper than this are refused; no RocketMQ body comes near it."""

INTEGER_KEYS = Clause(
    id="WIRE-FASTJSON-001",
    level=Level.QUIRK,
    text='A map with integer keys is written with bare keys, as in {0:"a:1"}.',
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#toJson",
)
OBJECT_KEYS = Clause(
    id="WIRE-FASTJSON-002",
    level=Level.QUIRK,
    text="A map whose keys are objects is written with whole objects as its keys.",
    source="4.6.0 org.apache.rocketmq.common.admin.ConsumeStats#offsetTable",
)
QUOTED_INTEGER_KEYS = Clause(
    id="WIRE-FASTJSON-003",
    level=Level.MUST,
    text="Up to 5.3, a reader accepts a map's integer keys in quotes as well as bare.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#fromJson",
    until="5.3",
)
NULLS_ARE_LEFT_OUT = Clause(
    id="WIRE-FASTJSON-004",
    level=Level.SHOULD,
    text="JSON of an object omits its null members.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#toJson",
)
UNKNOWN_MEMBERS = Clause(
    id="WIRE-FASTJSON-005",
    level=Level.MUST,
    text="A reader ignores unknown members of a body.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#fromJson",
)

_BLANK = r"[ \t\r\n\f\b]*"
_SPACE = re.compile(rf"{_BLANK}(?:(?://[^\n]*|/\*.*?\*/){_BLANK})*", re.DOTALL)
_BYTE_ORDER_MARK = "\ufeff"
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,300})(\.\d{1,300})?([eE][+-]?\d{1,3})?")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.\-]*")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_ESCAPES = dict(zip("\"'\\/bfnrtv", "\"'\\/\b\f\n\r\t\v", strict=True))
_SPECIAL = re.compile('[\x00-\x1f"\\\\\x7f-\x9f\u2028\u2029]')
"""Characters that fastjson escapes: more than JSON requires."""
_SHORT = {c: f"\\{letter}" for letter, c in _ESCAPES.items() if letter not in "'/v"}
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_scan = make_scanner(_DECODER)  # type: ignore[arg-type] # the stub is wrong
"""The C scanner of strict JSON: (text, start) to (value, end)."""


def loads(data: bytes | bytearray | memoryview | str) -> object:
    """Return the value that *data* holds.

    A map's key is a str or an int, or, where an object is the key, the sorted tuple
    of that object's (name, value) pairs. Text that is no JSON even for fastjson is
    a LayoutError.
    """
    text = data if isinstance(data, str) else _text(data)
    try:
        # The C scanner reads strict JSON without white space around it: most bodies.
        value, end = _scan(text, 0)
        if end != len(text):
            value = _DECODER.decode(text)
    except (ValueError, StopIteration, RecursionError):
        reader = _Reader(text.removeprefix(_BYTE_ORDER_MARK).rstrip("\0\n"))
        value = reader.value(0)
        reader.end()
        return value
    if text.count("[") + text.count("{") > DEPTH_MAX:  # most texts have few brackets
        _refuse_depth(value)
    return value


def dumps(value: object) -> bytes:
    """Return *value* as fastjson would write it: compact, integer keys bare.

    None members of a dict are left out, as fastjson leaves them out. Half a surrogate
    pair becomes a question mark, as by Java's String#getBytes.
    """
    return _write(value).encode("utf-8", "replace")


def _text(data: bytes | bytearray | memoryview) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise LayoutError("not UTF-8", offset=error.start) from error


def _refuse_depth(value: object) -> None:
    """Refuse a *value* nested deeper than DEPTH_MAX."""
    level = [value]
    for _ in range(DEPTH_MAX):
        inner = [list(v.values()) if isinstance(v, dict) else v for v in level]
        level = [item for v in inner if isinstance(v, list) for item in v]
    if any(isinstance(v, dict | list) for v in level):
        raise LayoutError(f"nested deeper than {DEPTH_MAX}")


class _Reader:
    """The text and how far it has been read. Offsets in errors count characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, reason: str) -> NoReturn:
        raise LayoutError(reason, offset=self.at)

    def peek(self) -> str:
        """Skip white space and return the next character, '' at the end."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def take(self, wanted: str) -> None:
        if (found := self.peek()) != wanted:
            shown = repr(found) if found else "the end"
            self.fail(f"expected {wanted!r}, found {shown}")
        self.at += 1

    def enter(self, bracket: str, depth: int) -> None:
        """Take the bracket that begins a value inside *depth* others."""
        if depth >= DEPTH_MAX:
            self.fail(f"nested deeper than {DEPTH_MAX}")
        self.take(bracket)

    def end(self) -> None:
        if self.peek():
            self.fail(f"{self.peek()!r} after the value")

    def value(self, depth: int) -> object:
        first = self.peek()
        if first == "{":
            return self.mapping(depth)
        if first == "[":
            return self.array(depth)
        if first in _PLAIN:
            return self.string(first)
        if first == "-" or (first.isascii() and first.isdigit()):
            return self.number()
        word = self.name()
        if word not in _WORDS:
            self.fail(f"{word!r} is no value")
        return _WORDS[word]

    def mapping(self, depth: int) -> dict[object, object]:
        self.enter("{", depth)
        found: dict[object, object] = {}
        while self.peek() != "}":
            key = self.key(depth)
            self.take(":")
            found[key] = self.value(depth + 1)
            if self.peek() != "}":
                self.take(",")
        self.take("}")
        return found

    def key(self, depth: int) -> object:
        first = self.peek()
        if first == "{":
            return _frozen(self.mapping(depth + 1))
        if first in _PLAIN:
            return self.string(first)
        if first == "-" or (first.isascii() and first.isdigit()):
            number = self.number()
            return number if isinstance(number, int) else str(number)
        return self.name()

    def array(self, depth: int) -> list[object]:
        self.enter("[", depth)
        found: list[object] = []
        while self.peek() != "]":
            if found:
                self.take(",")
            found.append(self.value(depth + 1))
        self.take("]")
        return found

    def name(self) -> str:
        found = _NAME.match(self.text, self.at)
        if not found:
            shown = f"{self.peek()!r} begins no value"
            self.fail(shown if self.peek() else "the end, a value expected")
        self.at = found.end()
        return found.group()

    def number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at)
        if not found:
            self.fail("a number that is none")
        self.at = found.end()
        if found.group(1) or found.group(2):
            return float(found.group())
        return int(found.group())

    def string(self, quote: str) -> str:
        self.at += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN[quote].match(self.text, self.at)
            assert plain, "the pattern also matches nothing"
            parts.append(plain.group())
            self.at = plain.end()
            if self.text[self.at : self.at + 1] == quote:
                self.at += 1
                return "".join(parts)
            parts.append(self.escape())

    def escape(self) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter in _ESCAPES and letter:
            self.at += 2
            return _ESCAPES[letter]
        digits = self.text[self.at + 2 : self.at + 6]
        if letter == "u" and re.fullmatch("[0-9A-Fa-f]{4}", digits):
            self.at += 6
            return chr(int(digits, 16))
        self.fail("a string without an end" if not letter else "an unknown escape")


def _frozen(value: object) -> object:
    """Return *value* with its dicts and lists as tuples, so that it can be a key."""
    if isinstance(value, dict):
        pairs = ((str(name), _frozen(item)) for name, item in value.items())
        return tuple(sorted(pairs, key=lambda pair: pair[0]))
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return value


def _write(value: object) -> str:
    # A table of topics has 100,000 of these, and the checks below are slow.
    if type(value) is str:
        return f'"{_SPECIAL.sub(_escaped, value)}"'
    if type(value) is int:
        return str(value)
    if type(value) is bool:
        return "true" if value else "false"
    if isinstance(value, Mapping):
        members = [
            f"{_key(name)}:{_write(member)}"
            for name, member in value.items()
            if member is not None
        ]
        return "{" + ",".join(members) + "}"
    if isinstance(value, str):
        return _write(str.__str__(value))
    if isinstance(value, Sequence):
        return "[" + ",".join(map(_write, value)) + "]"
    return json.dumps(value, allow_nan=False)


def _escaped(found: re.Match[str]) -> str:
    """Return a character as fastjson escapes it: its hex digits are upper-case."""
    character = found.group()
    return _SHORT.get(character) or f"\\u{ord(character):04X}"


def _key(key: object) -> str:
    if type(key) is str:
        return _write(key)
    if isinstance(key, tuple):
        return "{" + ",".join(f"{_write(n)}:{_write(v)}" for n, v in key) + "}"
    if isinstance(key, int) and not isinstance(key, bool):
        return str(int(key))
    return "null" if key is None else _write(str(key))
