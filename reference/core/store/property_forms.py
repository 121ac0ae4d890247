"""
Forms of properties: what those of many records have in common, byte by byte.

A form is made of properties that were read plainly. It lets the values vary, within
bytes that are no separators, and nothing else: so whatever is of the form is read as
the first was, with other values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from reference.core.store.hashing import tags_hash
from reference.core.store.index import KEY_SEPARATOR
from reference.core.store.record_runs import Flags, Ints
from spec.integers import INT32_MIN
from spec.wire.properties import NAME_END, VALUE_END, Property

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint32]
Span: TypeAlias = tuple[int, int]
"""Where bytes begin and end."""

SIZE_MAX = 1024
"""Bytes of properties that may have a form."""
_UNIQUE_KEY = Property.UNIQ_KEY.value.encode()
_KEYS = Property.KEYS.value.encode()
_TAGS = Property.TAGS.value.encode()
_NAME_END, _VALUE_END = NAME_END.encode(), VALUE_END.encode()
_KEY_SEPARATOR = KEY_SEPARATOR.encode()
_KEY_BYTES = 0x21, 0x7F
"""ASCII, so that a byte is a character, and no separator."""
_VALUE_BYTES = 0x20, 0xFF
_POWERS: Codes = np.cumprod([1, *[31] * SIZE_MAX], dtype=np.uint32)
"""What a character of a key counts, by the number of those behind it."""


class Form(NamedTuple):
    """What some properties of one size have in common."""

    least: Bytes
    more: Bytes
    """How much more than the least a byte may be: 0 where all have the same."""
    tags: Span | None
    keys: tuple[Span, ...]
    """In the order in which the index has them."""

    def fits(self, text: Bytes) -> Flags:
        """Return which rows of *text* are of this form."""
        found: Flags = np.logical_and.reduce(text - self.least <= self.more, axis=1)
        return found

    def tags_codes(self, text: Bytes) -> Ints:
        """Return the tags code of each row of *text*."""
        if self.tags is None:
            return np.zeros(len(text), np.int64)
        begin, end = self.tags
        values = np.ascontiguousarray(text[:, begin:end]).view(f"V{end - begin}")
        tags = values.reshape(-1).tolist()
        codes = {one: tags_hash(str(one, "utf-8", "replace")) for one in {*tags}}
        return np.array([codes[one] for one in tags], np.int64)

    def key_hashes(self, text: Bytes, prefixes: Codes) -> list[Ints]:
        """Return the hashes of the first key of each row, of the second, and so on."""
        return [_hashes(text[:, begin:end], prefixes) for begin, end in self.keys]


class Hashes:
    """The hashes of the keys of some records."""

    def __init__(self, record_count: int) -> None:
        self.count = np.zeros(record_count, np.int64)
        """Of each record."""
        self._parts: list[tuple[Ints, int, Ints]] = []

    def add(self, records: Ints, columns: list[Ints]) -> None:
        """Note the first hashes of *records*, the second, and so on."""
        self.count[records] = len(columns)
        self._parts += [(records, at, column) for at, column in enumerate(columns)]

    def in_order(self) -> Ints:
        """Return the hashes of all records, those of one behind those of another."""
        begins = np.cumsum(self.count) - self.count
        hashes = np.zeros(int(self.count.sum()), np.int64)
        for records, at, column in self._parts:
            hashes[begins[records] + at] = column
        return hashes


def form_of(properties: bytes) -> Form | None:
    """Return a form that *properties* are of; None where a key is not ASCII."""
    values = dict(_pairs(properties))
    unique, keys = values.get(_UNIQUE_KEY), values.get(_KEYS)
    spans = [*([unique] if unique else []), *(_words(properties, keys) if keys else [])]
    if not all(properties[slice(*span)].isascii() for span in spans):
        return None
    least = np.frombuffer(properties, np.uint8).copy()
    more = np.zeros_like(least)
    for _, span in _pairs(properties):
        _let_vary(least, more, span, _VALUE_BYTES)
    for span in [one for one in (unique, keys) if one]:
        begin, end = span
        least[begin:end] = np.frombuffer(properties[begin:end], np.uint8)
        more[begin:end] = 0
        _let_vary(least, more, span, _KEY_BYTES)
    return Form(least, more, values.get(_TAGS), tuple(spans))


def _pairs(properties: bytes) -> Iterator[tuple[bytes, Span]]:
    """Yield each name, and where its value is, as `decode_properties` reads them."""
    begin = 0
    for pair in properties.split(_VALUE_END):
        pieces = pair.rstrip(_NAME_END).split(_NAME_END)
        if len(pieces) == 2:
            value_at = begin + len(pieces[0]) + 1
            yield pieces[0], (value_at, value_at + len(pieces[1]))
        begin += len(pair) + 1


def _words(properties: bytes, keys: Span) -> Iterator[Span]:
    """Yield where each key in a KEYS property is."""
    begin = keys[0]
    for key in properties[slice(*keys)].split(_KEY_SEPARATOR):
        if key:
            yield begin, begin + len(key)
        begin += len(key) + 1


def _let_vary(least: Bytes, more: Bytes, span: Span, usual: tuple[int, int]) -> None:
    """Let the bytes in *span* that are usual be any that is."""
    first, last = usual
    own, room = least[slice(*span)], more[slice(*span)]
    varies = (own >= first) & (own <= last)
    own[varies], room[varies] = first, last - first


def _hashes(text: Bytes, prefixes: Codes) -> Ints:
    """Return what the index files keys under, one a row, behind these prefixes."""
    size = text.shape[1]
    own = (text * _POWERS[:size][::-1]).sum(axis=1, dtype=np.uint32)
    codes = (own + prefixes * _POWERS[size]).view(np.int32).astype(np.int64)
    # [INDEX-KEY-001] [INDEX-KEY-002]
    return np.where(codes == INT32_MIN, 0, np.abs(codes))
