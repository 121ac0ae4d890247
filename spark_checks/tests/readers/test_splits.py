"""
Any split of a file, damaged or not, gives the rows of the whole.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from columns.scan.log_file import LogRange, ReadAt
from columns.scan.record_scan import OLDER
from spark_checks.broker_conf import delays_in_setting
from spark_checks.generate.index_part import index_of
from spark_checks.generate.part import messages_of
from spark_checks.generate.plan import Plan
from spark_checks.readers import commit_log, consume_queue, index
from spark_checks.readers.log_part import part_before
from spark_checks.readers.table_source import FileGroup
from spark_checks.tests.building import StoreBuilder
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS

Row = dict[str, Any]
Wound = tuple[int, bytes]
"""Place, as a share of a file in 65,536ths, and the new bytes there."""
DELAYS = delays_in_setting(DEFAULT_DELAY_LEVELS)
PLACES = st.integers(0, 65_535)
SIZES = st.lists(st.integers(0, 300), min_size=1, max_size=25)
INDEX = index_of(
    [m.record for m in messages_of(Plan(files=1, log_size=40_000, body_size=200), 0)]
)


def wounds() -> st.SearchStrategy[list[Wound]]:
    """Return strategies of damage: single bytes, zeros, noise, and parts of records."""
    magic = bytes.fromhex("DAA320A7")
    some = st.one_of(
        st.binary(min_size=1, max_size=4),
        st.integers(1, 400).map(bytes),
        st.binary(min_size=20, max_size=120),
        st.sampled_from([magic, b"\0\0\0\x5b" + magic, b"\x7f\xff\xff\xff"]),
    )
    return st.lists(st.tuples(PLACES, some), max_size=4)


def wounded(data: bytes, wounds_of: list[Wound]) -> bytes:
    found = bytearray(data)
    for share, written in wounds_of:
        at = share * len(data) // 65_536
        found[at : at + len(written)] = written[: len(data) - at]
    return bytes(found)


def reader_of(data: bytes) -> ReadAt:
    return lambda position, size: data[position : position + size]


def log_of(sizes: list[int]) -> bytes:
    builder = StoreBuilder()
    for number, size in enumerate(sizes):
        builder.put("Orders", number % 2, body=bytes([number]) * size, tags="TagA")
    return bytes(builder.log).ljust(builder.log_size, b"\0")


def log_rows(data: bytes, base: int, cuts: list[int]) -> list[Row]:
    edges = [0, *cuts, len(data)]
    return [
        row
        for start, end in pairwise(edges)
        for batch in commit_log.batches(
            reader_of(data),
            LogRange(base=base, file_size=len(data), start=start, end=end),
            DELAYS,
        )
        for row in batch.to_pylist()
    ]


@settings(deadline=None)
@given(
    sizes=SIZES,
    damage=wounds(),
    cuts=st.sets(PLACES, max_size=12),
    length=PLACES,
    base=st.sampled_from([0, 0, 1 << 30]),  # other bases contradict the records
)
@example(sizes=[40] * 9, damage=[(1500, b"\0" * 8)], cuts={700}, length=65_535, base=0)
def test_a_log_may_be_cut_anywhere(
    sizes: list[int], damage: list[Wound], cuts: set[int], length: int, base: int
) -> None:
    whole = log_of(sizes)[: 2000 + length // 4]
    data = wounded(whole, damage)
    places = sorted({cut * len(data) // 65_536 for cut in cuts} - {0})
    assert log_rows(data, base, places) == log_rows(data, base, [])


@settings(deadline=None)
@given(sizes=SIZES, older=SIZES, cuts=st.sets(st.integers(1, 11_999), max_size=9))
@example(sizes=[0] * 13 + [17], older=[0] * 12 + [99, 0], cuts=set())
@example(sizes=[0, 1], older=[0, 0, 0], cuts={108})
def test_no_part_reads_what_a_failover_has_cut_off(
    sizes: list[int], older: list[int], cuts: set[int]
) -> None:
    data, before = log_of(sizes)[:12_000], log_of(older)[:12_000]
    begun = log_rows(data, 0, [])
    end = max(
        int(row["offset"] + row["size"]) for row in begun if row["kind"] == "record"
    )
    mixed = data[:end] + before[end:]
    whole = LogRange(base=0, file_size=len(data), start=0, end=len(data))
    rows = [
        row
        for start, stop in pairwise([0, *sorted(cuts), len(data)])
        for part in part_before(replace(whole, start=start, end=stop), end)
        for batch in commit_log.batches(reader_of(mixed), part, DELAYS)
        for row in batch.to_pylist()
    ]
    assert rows.pop() == {**begun.pop(), "reason": OLDER}
    assert rows == begun


def queue_rows(data: bytes, spans: list[range]) -> list[tuple[Any, ...]]:
    return [
        row
        for span in spans
        for units, positions in [consume_queue.written_units(reader_of(data), span)]
        for row in zip(positions.tolist(), units.tolist(), strict=True)
    ]


@settings(deadline=None)
@given(
    count=st.integers(0, 60),
    rest=st.integers(0, 19),
    damage=wounds(),
    limit=st.integers(1, 70),
)
def test_a_queue_may_be_cut_between_any_two_units(
    count: int, rest: int, damage: list[Wound], limit: int
) -> None:
    units = [Unit(commit_log_offset=n, size=9, tags_code=n) for n in range(count)]
    data = wounded(b"".join(map(encode_unit, units)) + b"x" * rest, damage)
    whole = range(count * UNIT_SIZE)
    step = limit * UNIT_SIZE
    spans = [whole[first : first + step] for first in whole[::step]]
    assert queue_rows(data, spans) == queue_rows(data, [whole])


def index_rows(data: bytes, items: int) -> list[Row]:
    rows = [
        row
        for part in index.parts_of("index/0", len(data), items=items)
        for batch in index.batches(reader_of(data), part)
        for row in batch.to_pylist()
    ]
    return sorted(rows, key=lambda row: int(row["position"]))


@settings(deadline=None, max_examples=30)
@given(damage=wounds(), items=st.integers(40, 2000))
@example(damage=[(8405, bytes(20))], items=40)
def test_an_index_may_be_cut_between_any_two_slots(
    damage: list[Wound], items: int
) -> None:
    data = wounded(INDEX, damage)
    assert index_rows(data, items) == index_rows(data, len(data))


def test_large_files_have_many_partitions() -> None:
    """The files are not opened: partitions follow from names and sizes."""
    listed = [["consumequeue/Orders/0/00000000000000000000", 2_000_000_000]]
    options = {"url": "/none", "files": json.dumps(listed)}
    parts = consume_queue.ConsumeQueueSource(options).partitions()
    assert len(parts) == 500
    assert len(index.parts_of("index/0", 40 + 5_000_000 * 84)) == 5
    log = ("commitlog/00000000000000000000", 1 << 30)
    options = {"url": "/none", "files": json.dumps([log])}
    assert len(commit_log.CommitLogSource(options).partitions()) == 8


def test_small_files_are_read_together() -> None:
    names = [f"commitlog/{number << 20:020}" for number in range(9)]
    listed = json.dumps([[name, 1 << 20] for name in names])
    source = commit_log.CommitLogSource({"url": "/none", "files": listed})
    groups = [one.parts for one in source.partitions() if isinstance(one, FileGroup)]
    assert [len(parts) for parts in groups] == [4, 4, 1]
    assert [part.path for parts in groups for part in parts] == names
    assert commit_log.CommitLogSource({"url": "/none"}).partitions() == []
