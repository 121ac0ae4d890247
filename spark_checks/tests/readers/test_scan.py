"""
Records are found in damaged files, and by any number of readers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from columns.scan import log_file, record_scan
from columns.scan.log_file import LogRange
from spark_checks.situation import Situation
from spark_checks.survey.survey import survey_log
from spark_checks.tests.building import StoreBuilder
from spark_checks.tests.readers.scanned_rows import rows_of
from spec.derive.numpy_dtype import column_types, dtype_spec, leading_fields
from spec.store.commit_log import scan
from spec.store.consume_queue import unit_layout
from spec.store.message_record import record_layout


@pytest.fixture
def log() -> bytes:
    """Return a file of 40 records that ends in zeros."""
    builder = StoreBuilder()
    for number in range(40):
        builder.put("Orders", number % 2, tags="TagA")
    return bytes(builder.log).ljust(builder.log_size, b"\0")


def test_a_clean_file_gives_what_the_specification_reads(log: bytes) -> None:
    rows = rows_of(log)
    wanted = scan(log).records
    assert [row["offset"] for row in rows[:-1]] == [found.offset for found in wanted]
    assert [row["topic"] for row in rows[:-1]] == [f.record.topic for f in wanted]
    assert [row["stored_at_ms"] for row in rows[:-1]] == [
        found.record.stored_at_ms for found in wanted
    ]
    assert all(row["body_crc"] == row["computed_crc"] for row in rows[:-1])
    assert (rows[-1]["kind"], rows[-1]["reason"]) == ("tail", None)


@pytest.mark.parametrize("cut", [64, 129, 500, 4096, 16_383])
@pytest.mark.parametrize("damaged_at", [None, 4, 700, 703, 2000, 5000])
def test_any_number_of_readers_find_the_same_rows(
    log: bytes, cut: int, damaged_at: int | None
) -> None:
    data = bytearray(log)
    if damaged_at is not None:
        data[damaged_at] ^= 0xFF
    assert rows_of(bytes(data), cut=cut) == rows_of(bytes(data))


@pytest.mark.parametrize("at", range(91))
def test_one_wrong_byte_harms_one_record_only(log: bytes, at: int) -> None:
    rows = rows_of(log)
    third = rows[2]["position"]
    data = bytearray(log)
    data[third + at] ^= 0xFF
    found = rows_of(bytes(data))
    assert found[:2] == rows[:2]
    assert found[3:] == rows[3:]
    assert found[2]["position"] == third


def test_a_record_of_zeros_is_a_damaged_region(log: bytes) -> None:
    rows = rows_of(log)
    start, size = rows[5]["position"], rows[5]["size"]
    data = log[:start] + bytes(size) + log[start + size :]
    found = rows_of(data)
    assert (found[5]["kind"], found[5]["position"], found[5]["size"]) == (
        "damaged",
        start,
        size,
    )
    assert found[6:] == rows[6:]


def test_a_file_cut_anywhere_in_its_last_record_is_read(log: bytes) -> None:
    rows = rows_of(log)
    start, size = rows[-2]["position"], rows[-2]["size"]
    for end in range(start + 1, start + size):
        found = rows_of(log[:end])
        assert found[:-1] == [{**row, "file_size": end} for row in rows[:-2]]
        only_zeros = not log[start:end].strip(b"\0")
        assert found[-1]["kind"] == ("tail" if only_zeros else "damaged")


@pytest.mark.parametrize(
    ("end", "head", "kind"),
    [
        pytest.param(-1, b"", "tail", id="most of the page"),
        pytest.param(0, b"", "tail", id="the page"),
        pytest.param(1, b"", "damaged", id="a byte of the next page"),
        pytest.param(0, b"\0\0\x01\xf4\xda\xa3\x20\xa7", "damaged", id="a magic"),
    ],
)
def test_older_bytes_may_end_the_last_page(
    log: bytes, end: int, head: bytes, kind: str
) -> None:
    start = rows_of(log)[-1]["position"]
    end += -(-start // record_scan.PAGE_SIZE) * record_scan.PAGE_SIZE
    older = head + b"x" * (end - start - len(head))
    (*records, last) = rows_of(log[:start] + older + log[end:])
    assert records == rows_of(log)[:-1]
    assert (last["position"], last["kind"]) == (start, kind)
    assert kind == "damaged" or last["reason"] == record_scan.OLDER


@pytest.mark.parametrize("length", [5, 6, 7, 8])
def test_a_torn_head_behind_the_last_record_is_damaged(log: bytes, length: int) -> None:
    start = rows_of(log)[-1]["position"]
    torn = b"\0\0\x01\xf4\xda\xa3\x20\xa7"[:length]
    last = rows_of(log[:start] + torn + log[start + length :])[-1]
    assert (last["position"], last["kind"]) == (start, "damaged")


def test_a_damaged_last_record_is_no_older_one(log: bytes) -> None:
    start = rows_of(log)[-2]["position"]
    damaged = bytearray(log)
    damaged[start + 4] ^= 0xFF  # its magic
    last = rows_of(bytes(damaged))[-1]
    assert (last["position"], last["kind"]) == (start, "damaged")


def test_an_empty_file_is_a_tail() -> None:
    assert [row["kind"] for row in rows_of(bytes(4096))] == ["tail"]


def test_noise_gives_one_damaged_region() -> None:
    noise = bytes(range(256)) * 64
    found = rows_of(noise)
    assert [(row["kind"], row["size"]) for row in found] == [("damaged", len(noise))]


def test_wide_hosts_move_the_fields_behind_them() -> None:
    narrow = {f.name: f.offset for f in leading_fields(record_layout, system_flags=0)}
    wide = {f.name: f.offset for f in leading_fields(record_layout, system_flags=0x30)}
    assert wide["stored_at_ms"] == narrow["stored_at_ms"] + 12
    assert wide["body_size"] == narrow["body_size"] + 24


def test_columns_and_dtype_follow_the_layout() -> None:
    assert dtype_spec(unit_layout)["itemsize"] == unit_layout.sizeof()
    assert column_types(unit_layout) == {
        "commit_log_offset": "int64",
        "size": "int32",
        "tags_code": "int64",
    }


@pytest.mark.parametrize("release", ["4.6.0", "5.3.3"])
def test_a_real_log_gives_what_the_specification_reads(release: str) -> None:
    root = Path(__file__).resolve().parents[3] / "fixtures" / "store"
    for path in sorted((root / f"{release}-stopped" / "commitlog").iterdir()):
        data = path.read_bytes()
        wanted = scan(data, int(path.name))
        rows = [r for r in rows_of(data, base=int(path.name)) if r["kind"] == "record"]
        assert [row["offset"] for row in rows] == [f.offset for f in wanted.records]
        assert [row["queue_offset"] for row in rows] == [
            found.record.queue_offset for found in wanted.records
        ]


def test_a_survey_keeps_one_window_at_a_time(
    log: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The next one then takes its place in memory, which is in the processor's cache.
    for module in (log_file, record_scan):
        monkeypatch.setattr(module, "WINDOW_SIZE", 1000)
    records = log.rstrip(b"\0")
    windows: list[bytes] = []

    def read_at(position: int, size: int) -> bytes:
        data = records[position : position + size]
        if size > 100:  # not only the head of a record
            held, unheld = (
                [sys.getrefcount(one) for one in some]
                for some in (windows, [bytes(size) for _ in windows])
            )
            assert held == unheld
            windows.append(data)
        return data

    where = LogRange(base=0, file_size=len(records), start=0, end=len(records))
    found = survey_log(read_at, where, Situation())
    assert sum(queue.count for queue in found.summary.records.values()) == 40
    assert len(windows) > 3
