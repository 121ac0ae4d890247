"""
Differences in one piece of two logs, and both logs' ends, without Spark.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_checks.against.differences import cut, differences
from spark_checks.against.sides import written_end
from spark_checks.store_files import list_store
from spark_checks.survey.summary import SurveySummary
from spark_checks.tests.building import StoreBuilder, flip, overwrite

LOG_SIZE = 4096


def builder_of(count: int, *, word: str = "m") -> StoreBuilder:
    """Return a builder with *count* messages."""
    builder = StoreBuilder(log_size=LOG_SIZE)
    for number in range(count):
        add(builder, number, word=word)
    return builder


def add(builder: StoreBuilder, number: int, *, word: str = "m") -> None:
    """Append the message with this number."""
    builder.put(
        "Orders",
        number % 2,
        body=f"{word}{number:06}".encode() * 9,
        properties=f"UNIQ_KEY\x01{word}{number:028X}\x02",
    )


def rows_of(here: Path, there: Path, *, end: int) -> list[dict[str, Any]]:
    """Return the differences of two stores up to *end*."""
    one, other = (list_store(str(store)) for store in (here, there))
    pieces, urls = cut(one, other, begin=0, end=end), (one.url, other.url)
    return [dict(row) for piece in pieces for row in differences(piece, urls)]


def summary_of(*, log_end: int, regions: int) -> SurveySummary:
    """Return a summary in which only the log's end is set."""
    return SurveySummary(regions=regions, log_end=log_end)


def test_equal_logs_make_no_row(tmp_path: Path) -> None:
    builder = builder_of(80)
    here, there = builder.write(tmp_path / "a"), builder.write(tmp_path / "b")
    assert rows_of(here, there, end=len(builder.log)) == []


@pytest.mark.parametrize("size", [300, 512, 1000, 4096])
def test_every_byte_of_a_record_is_compared_in_pieces_of_any_size(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_checks.against.differences.PIECE_SIZE", size)
    builder = builder_of(80)
    here, there = builder.write(tmp_path / "a"), builder.write(tmp_path / "b")
    hit = builder.placed["Orders", 1][17]
    for byte in range(0, hit.size, 7):
        flip(here, hit.log_file, hit.position + byte)
        found = rows_of(here, there, end=len(builder.log))
        assert {row["at"] for row in found} == {hit.offset + byte}
        assert {row["offset"] for row in found} == {hit.offset}
        flip(here, hit.log_file, hit.position + byte)


@pytest.mark.parametrize(
    ("byte", "field"),
    [
        (8, "body_crc"),
        (12, "queue_id"),
        (27, "queue_offset"),
        (39, "system_flags"),
        (47, "born_at_ms"),
        (63, "stored_at_ms"),
        (75, "reconsume_times"),
        (90, "body"),
    ],
)
def test_the_field_that_differs_is_named(tmp_path: Path, byte: int, field: str) -> None:
    builder = builder_of(20)
    here, there = builder.write(tmp_path / "a"), builder.write(tmp_path / "b")
    hit = builder.placed["Orders", 0][4]
    flip(here, hit.log_file, hit.position + byte)
    (row,) = rows_of(here, there, end=len(builder.log))
    assert (row["side"], row["field"]) == ("both", field)
    assert row["expected"] != row["found"]


def test_what_stands_behind_the_head_of_a_blank_is_not_compared(
    tmp_path: Path,
) -> None:
    builder = builder_of(80)
    here, there = builder.write(tmp_path / "a"), builder.write(tmp_path / "b")
    log = f"commitlog/{0:020}"
    blank = (here / log).read_bytes().rfind(bytes.fromhex("cbd43194"))
    overwrite(here, log, blank + 4, b"\x5a" * (LOG_SIZE - blank - 4))
    assert rows_of(here, there, end=len(builder.log)) == []
    flip(here, log, blank)
    assert rows_of(here, there, end=len(builder.log)) != []


def test_other_messages_at_the_same_places_are_on_one_side_each(
    tmp_path: Path,
) -> None:
    one, other = builder_of(15), builder_of(15)
    parted = len(one.log)
    for number in range(15, 25):
        add(one, number)
        add(other, number, word="x")
    here, there = one.write(tmp_path / "a"), other.write(tmp_path / "b")
    found = rows_of(here, there, end=len(one.log))
    assert min(row["offset"] for row in found) == parted
    assert [row["side"] for row in found].count("here") == 10
    assert [row["side"] for row in found].count("there") == 10


def test_a_file_that_one_side_lacks_makes_rows_of_the_other(tmp_path: Path) -> None:
    builder = builder_of(80)
    here, there = builder.write(tmp_path / "a"), builder.write(tmp_path / "b")
    (here / f"commitlog/{LOG_SIZE:020}").unlink()
    found = rows_of(here, there, end=len(builder.log))
    lost = [
        placed.offset
        for queue in builder.placed.values()
        for placed in queue
        if placed.offset // LOG_SIZE == 1
    ]
    records = [row["offset"] for row in found if row["kind"] == "record"]
    assert records == sorted(lost)
    assert {row["side"] for row in found} == {"there"}


@pytest.mark.parametrize("torn", [0, 1, 7, 60, 110])
def test_a_part_of_a_record_belongs_to_what_was_written(
    tmp_path: Path, torn: int
) -> None:
    builder = builder_of(20)
    end = len(builder.log)
    builder.log += b"\x01" * torn
    store = list_store(str(builder.write(tmp_path)))
    assert written_end(store, summary_of(log_end=end, regions=1)) == end + torn
    assert written_end(store, summary_of(log_end=end, regions=0)) == end
