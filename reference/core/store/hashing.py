"""
Java's string hash, fast enough to be taken of every message's keys.

The plain ones are in ``spec.integers`` and ``spec.store.index_file``; the tests
hold the two together.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from operator import mul
from sys import byteorder

from spec.integers import java_string_hash
from spec.store.index_file import key_hash

_UTF_16 = "utf-16-le" if byteorder == "little" else "utf-16-be"
_POWERS_COUNT = 1024
_POWERS = tuple(pow(31, n, 2**32) for n in range(_POWERS_COUNT + 1))[::-1]
"""What counts how much in a key of that many characters, from the front."""
_LAST = 8
"""Characters at the end of a unique key that change from minute to minute."""
_LAST_POWERS = _POWERS[-_LAST:]
_SHORT = 64


@lru_cache(maxsize=16_384)
def tags_hash(tags: str) -> int:
    """Return the tags code of *tags*; the same few come again and again."""
    return java_string_hash(tags) if tags else 0


def index_hash(topic: str, key: str) -> int:
    """Return what the index files a *key* under: 0 or more, 31 bits."""
    count = len(key)
    if _LAST < count <= _SHORT and key.isascii():
        # What a unique key begins with is its client: it comes again and again.
        own = _beginning_hash(key[:-_LAST])
        own += sum(map(mul, key[-_LAST:].encode(), _LAST_POWERS))
    else:
        units = key.encode() if key.isascii() else _units(key)
        count = len(units)
        if count > _POWERS_COUNT:
            return key_hash(topic, key)
        own = sum(map(mul, units, _POWERS[_POWERS_COUNT - count + 1 :]))
    # [INDEX-KEY-001] [INDEX-KEY-002]
    return _positive(_prefix_hash(topic) * _POWERS[_POWERS_COUNT - count] + own)


@lru_cache(maxsize=16_384)
def _beginning_hash(text: str) -> int:
    """Return what *text* counts for when some last characters follow it."""
    return java_string_hash(text) * _POWERS[_POWERS_COUNT - _LAST]


def _units(text: str) -> array[int]:
    """Return the UTF-16 code units of *text*."""
    return array("H", text.encode(_UTF_16, "surrogatepass"))


@lru_cache(maxsize=16_384)
def _prefix_hash(topic: str) -> int:
    return java_string_hash(f"{topic}#")


def _positive(code: int) -> int:
    """Return the absolute value of *code* as Java's int, 0 for the smallest int."""
    code &= 0xFFFFFFFF
    return code if code < 2**31 else -code & 0x7FFFFFFF
