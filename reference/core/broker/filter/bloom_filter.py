"""
The Bloom filter over consumer groups with expressions.

Each group has a few positions among some hundred bits; positions of groups may overlap.
The bits are stored, so the hash is that of Java: the first half of MurmurHash3 with
128 bits (Guava's murmur3_128).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from spec.integers import java_int

_MASK = 2**64 - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_BLOCK_SIZE = 16


class BloomFilter:
    """The number of bits, and the positions of each group.

    4.6.0 org.apache.rocketmq.filter.util.BloomFilter. With *group_count* groups, a
    group matches the bits of others in *error_percent* of all cases.
    """

    def __init__(self, *, error_percent: int, group_count: int) -> None:
        error = error_percent / 100
        self.hash_count = math.ceil(math.log(error) / math.log(0.5))
        least_count = math.ceil(
            group_count * (math.log(1 / error) / math.log(2)) * (1 / math.log(2))
        )
        self.bit_count = -(-least_count // 8) * 8  # [STORE-EXTENSION-009]

    def positions(self, name: str) -> tuple[int, ...]:
        """Return the positions of the bits that stand for *name*."""
        number = murmur64(name.encode())
        first, second = java_int(number), java_int(number >> 32)
        found = []
        for times in range(1, self.hash_count + 1):
            mixed = java_int(first + times * second)
            found.append((mixed if mixed >= 0 else ~mixed) % self.bit_count)
        return tuple(found)

    def bits(self, positions: Iterable[int]) -> bytes:
        """Return a bit map in which the bits at *positions* are set."""
        data = bytearray(self.bit_count // 8)
        for position in positions:
            data[position // 8] |= 1 << position % 8  # [STORE-EXTENSION-010]
        return bytes(data)


def murmur64(data: bytes) -> int:
    """Return the first 64 bits of MurmurHash3_x64_128 of *data*, seed 0."""
    h1 = h2 = 0
    whole = len(data) - len(data) % _BLOCK_SIZE
    for at in range(0, whole, _BLOCK_SIZE):
        k1 = int.from_bytes(data[at : at + 8], "little")
        k2 = int.from_bytes(data[at + 8 : at + 16], "little")
        h1 = _rotated(h1 ^ _mixed(k1, _C1, 31, _C2), 27) + h2
        h1 = (h1 * 5 + 0x52DCE729) & _MASK
        h2 = _rotated(h2 ^ _mixed(k2, _C2, 33, _C1), 31) + h1
        h2 = (h2 * 5 + 0x38495AB5) & _MASK
    tail = data[whole:]
    h1 ^= _mixed(int.from_bytes(tail[:8], "little"), _C1, 31, _C2) ^ len(data)
    h2 ^= _mixed(int.from_bytes(tail[8:], "little"), _C2, 33, _C1) ^ len(data)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    return (_finished(h1) + _finished(h2)) & _MASK


def _mixed(block: int, factor: int, places: int, second_factor: int) -> int:
    return _rotated(block * factor, places) * second_factor & _MASK


def _rotated(number: int, places: int) -> int:
    number &= _MASK
    return (number << places | number >> (64 - places)) & _MASK


def _finished(number: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number = (number ^ number >> 33) * factor & _MASK
    return number ^ number >> 33
