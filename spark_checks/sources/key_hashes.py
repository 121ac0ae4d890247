"""
The hashes under which an index must find the records of a window, all at once.

Most records of a log have the same properties in the same places: where one has its
key, the others are looked at first. Values of one length are hashed together. What is
not ASCII, or several keys in one value, is left to the plain way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Gathered, Ints, Places
from spec.integers import java_string_hash
from spec.store.index_file import key_hash
from spec.store.message_record import SystemFlag

LAYOUTS_MAX = 8
"""Places tried for a property before each record is searched for it."""
_UNIQUE, _KEYS, _TAGS = b"UNIQ_KEY\x01", b"KEYS\x01", b"TAGS\x01"
_TAG_MARK = "T#"
"""Stands between topic# and a tag, as topic# stands before a key; since 5.4."""
_powers: npt.NDArray[np.uint32] = np.cumprod(
    np.where(np.arange(32768) == 0, 1, 31), dtype=np.uint32
)

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHashes:
    """Equally long columns, one entry a key."""

    record: Ints
    """Index of the record in its window."""
    code: Ints
    is_tag: npt.NDArray[np.bool_]
    """Only releases since 5.4 keep tags in the index."""


def key_hashes(data: bytes, found: Gathered) -> KeyHashes:
    """Return the hashes of all keys and tags of the records *found* in *data*."""
    prefixes = _Prefixes()
    topics, lengths = found.places["topic"]
    names = zip(topics.tolist(), (topics + lengths).tolist(), strict=True)
    of_topic = [prefixes[data[begin:end]] for begin, end in names]
    parts: list[tuple[Ints, Ints, bool]] = []
    for name, is_tag in ((_UNIQUE, False), (_KEYS, False), (_TAGS, True)):
        record, values = _values(data, found, name)
        known = np.array([of_topic[i][is_tag] for i in record.tolist()], np.uint64)
        left = np.ones(len(record), np.bool_)
        for index, code in _hashed(data, values, known, splits=name == _KEYS):
            parts.append((record[index], code, is_tag))
            left[index] = False
        begins, lengths = values
        rest = record[left], (begins[left], lengths[left])
        by_hand = list(_by_hand(data, found, *rest, name))
        if by_hand:
            one, other = np.array(by_hand, dtype=np.int64).T
            parts.append((one, other, is_tag))
    if not parts:
        nothing = np.zeros(0, np.int64)
        return KeyHashes(record=nothing, code=nothing, is_tag=nothing.astype(np.bool_))
    return KeyHashes(
        record=np.concatenate([record for record, _, _ in parts]),
        code=np.concatenate([code for _, code, _ in parts]),
        is_tag=np.concatenate([np.full(len(r), tag) for r, _, tag in parts]),
    )


class _Prefixes(dict[bytes, tuple[int, int]]):
    """Remembers of each topic the hash of what stands before a key, and a tag."""

    def __missing__(self, topic: bytes) -> tuple[int, int]:
        name = topic.decode("utf-8", "replace")
        before_key = java_string_hash(f"{name}#") & 0xFFFFFFFF
        before_tag = java_string_hash(f"{name}#{_TAG_MARK}") & 0xFFFFFFFF
        self[topic] = found = before_key, before_tag
        return found


def _values(data: bytes, found: Gathered, name: bytes) -> tuple[Ints, Places]:
    """Return which records have the property *name*, and where its values are."""
    begins, sizes = found.places["properties"]
    ends = begins + sizes
    at = _places_of(data, begins, ends, name)
    flags = found.numbers["system_flags"] & int(SystemFlag.TRANSACTION_ROLLBACK)
    at[flags == int(SystemFlag.TRANSACTION_ROLLBACK)] = -1
    record = np.flatnonzero(at >= 0)
    values = at[record] + len(name)
    limits = ends[record]
    places = zip(values.tolist(), limits.tolist(), strict=True)
    stops = [_stop(data, begin, end) for begin, end in places]
    lengths = np.array(stops, np.int64) - values
    has_one = lengths > 0
    return record[has_one], (values[has_one], lengths[has_one])


def _stop(data: bytes, begin: int, end: int) -> int:
    stop = data.find(b"\x02", begin, end)
    return end if stop < 0 else stop


def _places_of(data: bytes, begins: Ints, ends: Ints, name: bytes) -> Ints:
    """Return where the property *name* begins in each of the properties, or -1."""
    at = np.full(len(begins), -1, dtype=np.int64)
    todo = np.arange(len(begins))
    view: Bytes = np.frombuffer(data, dtype=np.uint8)
    wanted = np.frombuffer(name, dtype=np.uint8)
    for _ in range(LAYOUTS_MAX):
        if not len(todo):
            return at
        first = _find(data, int(begins[todo[0]]), int(ends[todo[0]]), name)
        if first < 0:
            break
        guess = begins[todo] + (first - begins[todo[0]])
        fits = guess + len(name) <= ends[todo]
        near = np.where(fits, guess, 0)
        same = (view[near[:, None] + np.arange(len(name))] == wanted).all(axis=1)
        alone = (guess == begins[todo]) | (view[near - 1] == 2)
        is_it = fits & same & alone
        at[todo[is_it]] = guess[is_it]
        todo = todo[~is_it]
    for index in todo.tolist():
        at[index] = _find(data, int(begins[index]), int(ends[index]), name)
    return at


def _find(data: bytes, begin: int, end: int, name: bytes) -> int:
    at = data.find(name, begin, end)
    while at > begin and data[at - 1] != 2:
        at = data.find(name, at + 1, end)
    return at


def _hashed(
    data: bytes, values: Places, prefixes: npt.NDArray[np.uint64], *, splits: bool
) -> Iterator[tuple[Ints, Ints]]:
    """Yield indices into *values* and their hashes; what is not plain is left out."""
    view: Bytes = np.frombuffer(data, dtype=np.uint8)
    begins, lengths = values
    for length in np.unique(lengths).tolist():
        index = np.flatnonzero(lengths == length)
        text = view[begins[index][:, None] + np.arange(length)]
        plain = ~_needs_care(text, splits=splits)
        index, text = index[plain], text[plain]
        powers = _powers[:length][::-1]
        own = (text.astype(np.uint32) * powers).sum(axis=1, dtype=np.uint32)
        before = prefixes[index].astype(np.uint32) * _powers[length]
        yield index, _absolute(before + own)


def _needs_care(text: Bytes, *, splits: bool) -> npt.NDArray[np.bool_]:
    """Return which rows of *text* are not ASCII, or hold several keys."""
    odd = (text >= 0x80) | (splits & (text == ord(" ")))
    found: npt.NDArray[np.bool_] = np.logical_or.reduce(odd, axis=1)
    return found


def _absolute(codes: npt.NDArray[np.uint32]) -> Ints:
    signed = codes.view(np.int32).astype(np.int64)
    found: Ints = np.where(signed == -(1 << 31), 0, np.abs(signed))
    return found


def _by_hand(
    data: bytes, found: Gathered, record: Ints, values: Places, name: bytes
) -> Iterator[tuple[int, int]]:
    """Yield the records and hashes of values that :func:`_hashed` leaves out."""
    begins, lengths = (column.tolist() for column in values)
    topics, sizes = found.places["topic"]
    for index, begin, length in zip(record.tolist(), begins, lengths, strict=True):
        text = data[begin : begin + length]
        at, size = int(topics[index]), int(sizes[index])
        topic = data[at : at + size].decode("utf-8", "replace")
        whole = text.decode("utf-8", "replace")
        keys = whole.split(" ") if name == _KEYS else [whole]
        mark = _TAG_MARK if name == _TAGS else ""
        for key in filter(None, keys):
            yield index, key_hash(topic, mark + key)
