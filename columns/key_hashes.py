"""
Hashes under which an index must contain the records of a window.

Values of one length are hashed together. Values that are not ASCII or hold several keys
are left to :func:`_by_hand`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from columns.gather import FieldColumns, Ints, Places
from columns.record_properties import Properties
from columns.string_hashes import powers, string_hashes
from columns.topics import Topics
from spec.integers import java_string_hash
from spec.store.index_file import key_hash
from spec.store.message_record import SystemFlag

UNIQUE_KEY, KEYS, TAGS = b"UNIQ_KEY", b"KEYS", b"TAGS"
_TAG_MARK = "T#"
"""Prefix of a tag behind topic#, since 5.4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHashes:
    """Equally long columns, one entry per key."""

    record: Ints
    """Index of the record in its window."""
    code: Ints
    is_tag: npt.NDArray[np.bool_]
    """Whether it is a tag, which only releases since 5.4 index."""


def key_hashes(
    found: FieldColumns,
    topics: Topics,
    split: Properties,
    names: Sequence[bytes] = (UNIQUE_KEY, KEYS, TAGS),
) -> KeyHashes:
    """Return the hashes of the keys, and of the tags, in the properties *names*."""
    before = np.array([prefixes_of(name) for name in topics.names], np.uint32)
    before = before.reshape(len(topics.names), 2)
    flags = found.numbers["system_flags"] & int(SystemFlag.TRANSACTION_ROLLBACK)
    is_kept = flags != int(SystemFlag.TRANSACTION_ROLLBACK)
    parts: list[tuple[Ints, Ints, bool]] = []
    for name in names:
        is_tag = name == TAGS
        record, (begins, sizes) = split.named(name)
        wanted = is_kept[record] & (sizes > 0)
        record, values = record[wanted], (begins[wanted], sizes[wanted])
        known = before[topics.numbers[record], int(is_tag)]
        left = np.ones(len(record), np.bool_)
        index, code = hashed(split.text, values, known, splits=name == KEYS)
        parts.append((record[index], code, is_tag))
        left[index] = False
        for at in np.flatnonzero(left).tolist():
            topic = topics.names[topics.numbers[record[at]]]
            begin, size = (int(column[at]) for column in values)
            codes = list(_by_hand(topic, split.text[begin : begin + size], name))
            one = np.full(len(codes), record[at])
            parts.append((one, np.array(codes, dtype=np.int64), is_tag))
    if not parts:
        nothing = np.zeros(0, np.int64)
        return KeyHashes(record=nothing, code=nothing, is_tag=nothing.astype(np.bool_))
    return KeyHashes(
        record=np.concatenate([record for record, _, _ in parts]),
        code=np.concatenate([code for _, code, _ in parts]),
        is_tag=np.concatenate([np.full(len(r), tag) for r, _, tag in parts]),
    )


@lru_cache(maxsize=10_000)
def prefixes_of(topic: bytes) -> tuple[int, int]:
    """Return the hashes of the prefixes of a key and of a tag of *topic*."""
    name = topic.decode("utf-8", "replace")
    before_key = java_string_hash(f"{name}#") & 0xFFFFFFFF
    before_tag = java_string_hash(f"{name}#{_TAG_MARK}") & 0xFFFFFFFF
    return before_key, before_tag


def hashed(
    data: bytes, values: Places, prefixes: npt.NDArray[np.uint32], *, splits: bool
) -> tuple[Ints, Ints]:
    """Return indices into *values* and the hashes of keys, for ASCII values only.

    The *prefixes* are the hashes of the text before each of *values*. With *splits*,
    values with a blank are left out too.
    """
    indices, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for index, codes in string_hashes(data, values, besides=b" " if splits else b""):
        indices.append(index)
        found.append(_absolute(prefixes[index] * powers[values[1][index]] + codes))
    return np.concatenate(indices), np.concatenate(found)


def _absolute(codes: npt.NDArray[np.uint32]) -> Ints:
    signed = codes.view(np.int32).astype(np.int64)
    found: Ints = np.where(signed == -(1 << 31), 0, np.abs(signed))
    return found


def _by_hand(topic: bytes, text: bytes, name: bytes) -> Iterator[int]:
    """Yield the hashes of a value that :func:`hashed` leaves out."""
    whole = text.decode("utf-8", "replace")
    keys = whole.split(" ") if name == KEYS else [whole]
    mark = _TAG_MARK if name == TAGS else ""
    for key in filter(None, keys):
        yield key_hash(topic.decode("utf-8", "replace"), mark + key)
