"""
Java's string hash of tags and keys, from cached parts.

Unique keys share their beginnings, so only a counter is hashed for each message.
``spec.integers`` and ``spec.store.index_file`` define the same hashes; tests compare
them.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import product
from operator import mul
from sys import byteorder

from spec.integers import java_string_hash

_UTF_16 = "utf-16-le" if byteorder == "little" else "utf-16-be"
_POWERS_COUNT = 1024
_POWERS: tuple[int, ...] = tuple(pow(31, n, 2**32) for n in range(_POWERS_COUNT + 1))[
    ::-1
]
"""Powers of 31, the highest first: the factors of a key's characters."""
_COUNTER, _CLOCK = 4, 4
"""Characters at the end of a unique key: the counter of messages and, before it, the
digits that change from minute to minute."""
_CLOCK_POWERS = _POWERS[-_COUNTER - _CLOCK : -_COUNTER]
_SHORT = 64
_PAIRS = {
    one + other: java_string_hash(one + other)
    for one, other in product("0123456789ABCDEF", repeat=2)
}
_PAIR_POWER = 31**2


@lru_cache(maxsize=16_384)
def tags_hash(tags: str) -> int:
    """Return the tags code of *tags*, cached."""
    return java_string_hash(tags) if tags else 0


def index_hash(topic: str, key: str) -> int:
    """Return the hash of *key* in the index: 31 bits, 0 or more."""
    first, second = _PAIRS.get(key[-4:-2]), _PAIRS.get(key[-2:])
    if (
        first is not None
        and second is not None
        and _CLOCK + _COUNTER < len(key) <= _SHORT
        and key.isascii()
    ):
        # A unique key begins with a client and a time, whose hash is cached.
        before = _before_counter(topic, key[:-_COUNTER])
        code = before + first * _PAIR_POWER + second
    else:
        code = _code_of(topic, key)
    code &= 0xFFFFFFFF
    # [INDEX-KEY-002] Java's absolute value; that of the smallest int is 0 here.
    return code if code < 2**31 else -code & 0x7FFFFFFF


def _code_of(topic: str, key: str) -> int:
    """Return Java's hash of topic, ``#`` and *key*, modulo 2**32."""
    units = key.encode() if key.isascii() else _units(key)
    count = len(units)
    if count > _POWERS_COUNT:
        return java_string_hash(f"{topic}#{key}")
    own: int = sum(map(mul, units, _POWERS[_POWERS_COUNT - count + 1 :]))
    # [INDEX-KEY-001]
    return _prefix_hash(topic) * _POWERS[_POWERS_COUNT - count] + own


@lru_cache(maxsize=1024)
def _before_counter(topic: str, text: str) -> int:
    """Return the hash of *text*, a key of *topic*, as if zeros followed it."""
    clock: int = sum(map(mul, text[-_CLOCK:].encode(), _CLOCK_POWERS))
    prefix: int = _prefix_hash(topic) * _POWERS[_POWERS_COUNT - len(text) - _COUNTER]
    return (prefix + _beginning_hash(text[:-_CLOCK]) + clock) & 0xFFFFFFFF


@lru_cache(maxsize=16_384)
def _beginning_hash(text: str) -> int:
    """Return the hash of *text* times the power of the characters behind it."""
    return java_string_hash(text) * _POWERS[_POWERS_COUNT - _CLOCK - _COUNTER]


def _units(text: str) -> array[int]:
    """Return the UTF-16 code units of *text*."""
    return array("H", text.encode(_UTF_16, "surrogatepass"))


@lru_cache(maxsize=16_384)
def _prefix_hash(topic: str) -> int:
    return java_string_hash(f"{topic}#")
