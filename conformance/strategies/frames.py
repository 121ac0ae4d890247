"""Ways of sending bytes, and bytes that are no frames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st


def cuts(size: int, *, most: int = 6) -> st.SearchStrategy[list[int]]:
    """Places at which *size* bytes are cut; those inside the size words are planted."""
    place = st.one_of(
        st.sampled_from([place for place in range(1, 10) if place < size]),
        st.integers(1, size - 1),
    )
    return st.lists(place, min_size=1, max_size=most, unique=True).map(sorted)


def cut_at(data: bytes, places: Sequence[int]) -> list[bytes]:
    """Return the pieces of *data* between *places*."""
    edges = [0, *places, len(data)]
    return [data[low:high] for low, high in pairwise(edges)]


def no_json_headers() -> st.SearchStrategy[bytes]:
    """Bytes that no reader of JSON takes for an object."""
    planted = (
        b"x",
        b"{",
        b"}",
        b'{"code":',
        b"[1",
        b"nul",
        b'{"code":1}}',
        b"\x00\x00",
    )
    letters = st.text("abcdefgh", min_size=1, max_size=64).map(str.encode)
    return st.one_of(st.sampled_from(planted), letters)


def word(number: int) -> bytes:
    """Return *number* as the four bytes of a size word."""
    return (number % 2**32).to_bytes(4, "big")


def frame_of(header: bytes, *, kind: int = 0, header_size: int | None = None) -> bytes:
    """Return a frame of *header* with any notation byte and any claimed header size."""
    claimed = len(header) if header_size is None else header_size
    return word(len(header) + 4) + word(kind << 24 | claimed) + header
