"""
Hashes under which an index must contain the records of a window.

Values of one length are hashed together. Values that are not ASCII or hold several keys
are left to :func:`_fallback_hashes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from columns.gather import Bools, FieldColumns, Ints
from columns.record_properties import Properties
from columns.string_hashes import powers
from columns.topics import Topics
from spec.integers import INT32_MAX, java_string_hash
from spec.store.index_file import key_hash
from spec.store.message_record import SystemFlag

UNIQUE_KEY, KEYS, TAGS = KEY_NAMES = b"UNIQ_KEY", b"KEYS", b"TAGS"
_TAG_MARK = "T#"
"""Prefix of a tag behind topic#, since 5.4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHashes:
    """Equally long columns, one entry per key."""

    record: Ints
    """Index of the record in its window."""
    code: Ints
    is_tag: Bools
    """Whether it is a tag, which only releases since 5.4 index."""


def key_hashes(
    found: FieldColumns,
    topics: Topics,
    split: Properties,
    names: Sequence[bytes] = KEY_NAMES,
) -> KeyHashes:
    """Return the hashes of the keys, and of the tags, in the properties *names*."""
    before = np.array([_prefixes_of(name) for name in topics.names], np.uint32)
    before = before.reshape(len(topics.names), 2)
    flags = found.numbers["system_flags"] & int(SystemFlag.TRANSACTION_ROLLBACK)
    is_kept = flags != int(SystemFlag.TRANSACTION_ROLLBACK)
    parts: list[tuple[Ints, Ints, bool]] = []
    for name in names:
        values, is_tag = split.values[name], name == TAGS
        wanted = (values.sizes > 0) & is_kept
        prefixes = before[:, int(is_tag)][topics.numbers]
        codes = _absolute(values.codes + prefixes * powers[values.sizes])
        record = np.flatnonzero(wanted & values.are_words)
        parts.append((record, codes[record], is_tag))
        for at, value in split.fallback_values(name, wanted):
            topic = topics.names[topics.numbers[at]]
            each = list(_fallback_hashes(topic, value, name))
            parts.append((np.full(len(each), at), np.array(each, np.int64), is_tag))
    return KeyHashes(
        record=np.concatenate([record for record, _, _ in parts]),
        code=np.concatenate([code for _, code, _ in parts]),
        is_tag=np.concatenate([np.full(len(r), tag) for r, _, tag in parts]),
    )


@lru_cache(maxsize=10_000)
def _prefixes_of(topic: bytes) -> tuple[int, int]:
    """Return the hashes of the prefixes of a key and of a tag of *topic*."""
    name = topic.decode("utf-8", "replace")
    before_key = java_string_hash(f"{name}#") & 0xFFFFFFFF
    before_tag = java_string_hash(f"{name}#{_TAG_MARK}") & 0xFFFFFFFF
    return before_key, before_tag


def _absolute(codes: npt.NDArray[np.uint32]) -> Ints:
    signed = codes.view(np.int32)
    found: Ints = np.bitwise_and(INT32_MAX, np.abs(signed)).astype(np.int64)
    return found


def _fallback_hashes(topic: bytes, text: bytes, name: bytes) -> Iterator[int]:
    """Yield the hashes of the keys in a value that is not one key in ASCII."""
    whole = text.decode("utf-8", "replace")
    keys = whole.split(" ") if name == KEYS else [whole]
    mark = _TAG_MARK if name == TAGS else ""
    for key in filter(None, keys):
        yield key_hash(topic.decode("utf-8", "replace"), mark + key)
