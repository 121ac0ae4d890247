"""
Rows of a key are found by their rank and by their offset, and tables are sent narrow.
"""

from __future__ import annotations

import pickle
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.numbers.by_key import NEVER, NO_ROW, ByKey, Table, later_offsets
from spec.integers import INT64_MAX, INT64_MIN

keys = st.lists(st.integers(0, 3), max_size=12)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(rows=keys, others=keys, order=st.randoms(use_true_random=False))
def test_rows_of_a_key_are_found_by_rank_and_offset(
    rows: list[int], others: list[int], order: Random
) -> None:
    offsets = list(range(len(rows) + len(others)))
    order.shuffle(offsets)
    own, foreign = offsets[: len(rows)], offsets[len(rows) :]
    arrays = (np.array(one, dtype=np.int64) for one in (rows, own, others, foreign))
    keys, at, other_keys, other_at = arrays
    table = ByKey(keys, at)
    ranks = table.ranks().tolist()
    for key, offset, rank in zip(rows, own, ranks, strict=True):
        before = [o for k, o in zip(rows, own, strict=True) if k == key and o <= offset]
        assert rank == len(before)
    assert table.counts(other_keys).tolist() == [rows.count(key) for key in others]
    assert table.rows(keys, table.ranks()).tolist() == list(range(len(rows)))
    has_none = [key not in rows for key in others]
    assert (table.rows(other_keys) == NO_ROW).tolist() == has_none
    later = later_offsets(keys, at, other_keys, other_at).tolist()
    for key, offset, found in zip(rows, own, later, strict=True):
        behind = [
            o for k, o in zip(others, foreign, strict=True) if k == key and o > offset
        ]
        assert found == min(behind, default=NEVER)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.lists(
        st.sampled_from([0, 1, -1, 255, 1 << 32, INT64_MIN, INT64_MAX])
        | st.integers(INT64_MIN, INT64_MAX),
        max_size=5,
    )
)
def test_a_table_that_is_sent_stays_as_it_is(numbers: list[int]) -> None:
    table = Table(offset=np.array(numbers, dtype=np.int64))
    sent = pickle.loads(pickle.dumps(table))  # noqa: S301 # of this test
    assert isinstance(sent, Table)
    assert sent["offset"].dtype == np.int64
    assert sent["offset"].tolist() == numbers


def test_a_table_is_sent_with_narrow_columns() -> None:
    order = np.random.default_rng(seed=1)
    numbers = order.permutation(10_000) + (1 << 40)
    hashes = order.integers(INT64_MIN, INT64_MAX, 10_000)
    offsets = np.cumsum(order.integers(0, 256, 10_000))  # rises by less than 256
    for column, size in ((numbers, 2), (hashes, 8), (offsets, 1), (offsets[::-1], 1)):
        sent = pickle.dumps(Table(offset=column), protocol=5)
        assert len(sent) < size * len(column) + 1_000
        table = pickle.loads(sent)  # noqa: S301 # of this test
        assert (table["offset"] == column).all()
