"""
Kernels return the results of their fallbacks, for any input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.accelerated import Accelerated
from columns.gather import Ints
from columns.kernels.install import kernel_pairs
from columns.log_batch import body_crcs, follow_sizes
from columns.numbers.group_sums import add_rows
from columns.numbers.index_items import chains
from columns.numbers.long_hashes import hash_of_longs
from columns.record_properties import properties_of
from columns.tests.drawn_logs import logs
from columns.tests.text_places import laid_out
from columns.tests.with_kernels import with_kernels
from columns.topics import first_alike
from columns.uint64_words import text_hashes
from java_runtime.user_cache import cache_path

EXAMPLES = settings(max_examples=200, derandomize=True, deadline=None)
digits = st.text("0123456789,", max_size=24).map(str.encode)
hexadecimal = st.text("0123456789abcdefABCDEFg", min_size=31, max_size=57)
alike = st.sampled_from([b"", b"A", b"Orders", 9 * b"Q", 9 * b"R", 8 * b"Q"])
any_bytes = st.binary(max_size=40)
texts = st.lists(
    st.one_of(alike, digits, hexadecimal.map(str.encode), any_bytes), max_size=12
)
names = (b"TAGS", b"REAL_QUEUE", b"v")
pieces = st.sampled_from([*names, b"\x01", b"\x02", b"\0", b"\xc3"])
properties = st.lists(st.lists(pieces, max_size=12).map(b"".join), max_size=6)


@pytest.fixture(scope="module", autouse=True)
def _pairs() -> Iterator[None]:
    with with_kernels():
        yield


def _agree(function: Any, *args: Any, **named: Any) -> None:
    """Compare the results of kernel and fallback of *function*."""
    assert isinstance(function, Accelerated)
    assert function.kernel is not None
    found, wanted = function.kernel(*args, **named), function.fallback(*args, **named)
    assert _shown(found) == _shown(wanted)


def _shown(response: Any) -> Any:
    """Return *response* in a comparable form."""
    if isinstance(response, np.ndarray):
        return response.tolist()
    return (
        [_shown(one) for one in response] if isinstance(response, tuple) else response
    )


def _column(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def test_each_kernel_is_compared_with_its_fallback() -> None:
    assert {
        function.fallback.__name__ for function, _ in kernel_pairs(cache_path())
    } == {
        *("follow_sizes", "body_crcs", "properties_of", "text_hashes"),
        *("add_rows", "chains", "hash_of_longs", "first_alike"),
    }


@EXAMPLES
@given(data=logs(), position=st.integers(0, 200), most=st.integers(0, 9))
def test_sizes_lead_to_the_same_records(data: bytes, position: int, most: int) -> None:
    if position <= len(data):
        _agree(follow_sizes, data, position, most=most)


@EXAMPLES
@given(each=properties, gap=st.binary(max_size=9))
def test_properties_are_split_alike(each: list[bytes], gap: bytes) -> None:
    data = gap.join([b"", *each, b""])
    sizes = np.array([len(text) for text in each], dtype=np.int64)
    begins = np.cumsum(sizes + len(gap)) - sizes
    assert properties_of.kernel is not None
    every = (*names, b"REAL_QUEUE2")
    found = properties_of.kernel(data, begins, begins + sizes, every)
    wanted = properties_of.fallback(data, begins, begins + sizes, every)
    assert found.broken.tolist() == wanted.broken.tolist()
    assert found.is_regular == wanted.is_regular
    assert found.is_ascii == wanted.is_ascii == b"".join(each).isascii()
    for name in every:
        ours, theirs = found.values[name], wanted.values[name]
        for way, split in ((ours, found), (theirs, wanted)):
            ends = way.begins + way.sizes
            assert [
                split.text[begin:end]
                for begin, end in zip(way.begins, ends, strict=True)
            ] == [_value(text, name) for text in each]
        assert ours.are_words.tolist() == theirs.are_words.tolist()
        codes = [way.codes[way.are_words].tolist() for way in (ours, theirs)]
        assert codes[0] == codes[1]


def _value(text: bytes, name: bytes) -> bytes:
    """Return the value of the last property *name* of *text*; empty without one."""
    pairs = [piece.partition(b"\x01") for piece in text.split(b"\x02")]
    return [b"", *(value for key, _, value in pairs if key == name and value)][-1]


@EXAMPLES
@given(each=texts)
def test_strings_have_the_same_hashes(each: list[bytes]) -> None:
    data, values = laid_out(each)
    _agree(text_hashes, data, values)
    _agree(first_alike, data, values)
    _agree(body_crcs, data, values)


longs = st.integers(-(2**63), 2**63 - 1)


@EXAMPLES
@given(values=st.lists(longs, max_size=20))
def test_numbers_have_the_same_hashes(values: list[int]) -> None:
    column = _column(values)
    ints = column.astype(np.int32)
    _agree(hash_of_longs, column)
    _agree(hash_of_longs, column, ints, column[::-1])


rows = st.tuples(st.integers(0, 3), st.booleans(), st.booleans(), *4 * [longs])


@EXAMPLES
@given(each=st.lists(rows, max_size=20))
def test_rows_have_the_same_sums(each: list[tuple[int, ...]]) -> None:
    groups, needed, ranged, *columns = (
        _column([row[at] for row in each]) for at in range(7)
    )
    found, wanted = np.zeros((2, 6, 4), np.int64)
    flags = needed.astype(np.bool_), ranged.astype(np.bool_)
    assert add_rows.kernel is not None
    add_rows.kernel(groups, *flags, tuple(columns), found)
    add_rows.fallback(groups, *flags, tuple(columns), wanted)
    assert found.tolist() == wanted.tolist()


@EXAMPLES
@given(slots=st.lists(st.integers(0, 9), max_size=30), first=st.integers(1, 2**31))
def test_items_name_the_same_ones(slots: list[int], first: int) -> None:
    numbers = np.arange(first, first + 3 * len(slots), 3)
    _agree(chains, numbers, _column(slots), 10)
