"""Bodies, properties and times of messages, with the values that break writers."""

from __future__ import annotations

from hypothesis import strategies as st

from conformance.strategies.boundaries import int64s, near, texts
from spec.wire.message.properties import Property

SEPARATORS = "\x01\x02"
RESERVED = {name.value for name in Property} | {"CLUSTER"}
"""Names to which brokers give a meaning."""
LARGEST_BODY = 2**17


def bodies(*, most: int = LARGEST_BODY) -> st.SearchStrategy[bytes]:
    """Bodies of at least a byte: sizes at boundaries, bytes of every value."""
    sizes = near(2**7, 2**8, 2**15, 2**16, most).filter(lambda size: 0 < size <= most)
    patterned = st.builds(_pattern, sizes, st.integers(0, 255))
    return st.one_of(patterned, st.binary(min_size=1, max_size=64))


def _pattern(size: int, first: int) -> bytes:
    """Return *size* bytes that count up, so that a shifted or cut body differs."""
    row = bytes((first + index) % 256 for index in range(256))
    return (row * (size // 256 + 1))[:size]


def property_values() -> st.SearchStrategy[str]:
    """Values that a property may have."""
    return texts(without=SEPARATORS)


def properties(*, most: int = 6) -> st.SearchStrategy[dict[str, str]]:
    """Properties of a producer's own, in any script."""
    names = texts(without=SEPARATORS).filter(lambda name: name not in RESERVED)
    return st.dictionaries(names, property_values(), max_size=most)


def born_times() -> st.SearchStrategy[int]:
    """Born times of messages: brokers accept every value of a producer."""
    return int64s()


def tags() -> st.SearchStrategy[str]:
    """Tags as producers name them, some with hashes that are negative or collide."""
    planted = ("TagA", "Aa", "BB", "a", "polygenelubricants", "中文", "😀", "x" * 100)
    return st.one_of(
        st.sampled_from(planted), st.text("abcXYZ", min_size=1, max_size=8)
    )
