"""
Units and records are found in sparse files, and holes are not read.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_checks.file_systems import ranges_with_data, reading
from spark_checks.readers.commit_log import CommitLogSource
from spark_checks.readers.consume_queue import UnitRange, allocated, written_units
from spark_checks.store_files import StoreFile
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit

SIZE = 6_000_000
UNITS = SIZE // UNIT_SIZE
PATH = f"consumequeue/Orders/0/{0:020d}"
FILE = StoreFile(path=PATH, size=SIZE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with room for a queue's file."""
    root = tmp_path_factory.mktemp("store")
    (root / PATH).parent.mkdir(parents=True)
    return root


def write(store: Path, places: set[int]) -> None:
    """Write a queue's file with units at these *places* only."""
    with (store / PATH).open("wb") as file:
        file.truncate(SIZE)
        for place in places:
            data = encode_unit(Unit(commit_log_offset=place, size=100, tags_code=0))
            os.pwrite(file.fileno(), data, place * UNIT_SIZE)


def found_in(store: Path, units: range) -> list[int]:
    """Return the queue offsets of the units among *units*."""
    span = range(units.start * UNIT_SIZE, units.stop * UNIT_SIZE)
    with reading(str(store), PATH) as read_at:
        return [
            position // UNIT_SIZE
            for held in allocated(str(store), UnitRange(FILE, span), UNIT_SIZE)
            for position in written_units(read_at, held.span)[1].tolist()
        ]


@settings(deadline=None, max_examples=50)
@given(
    places=st.sets(st.integers(0, UNITS - 1), max_size=12),
    first=st.integers(0, UNITS),
    last=st.integers(0, UNITS),
)
def test_every_unit_is_found_once(
    store: Path, places: set[int], first: int, last: int
) -> None:
    write(store, places)
    wanted = range(first, last)
    assert found_in(store, wanted) == sorted(places & set(wanted))


def test_holes_are_not_read(store: Path) -> None:
    """Fails on file systems without holes, where audits read whole files."""
    write(store, {0, 1, UNITS - 1})
    held = ranges_with_data(str(store), PATH, SIZE)
    assert held[0].start == 0
    assert held[-1].stop == SIZE
    assert sum(map(len, held)) < SIZE // 10
    write(store, set())
    assert ranges_with_data(str(store), PATH, SIZE) == []


def test_holes_behind_the_records_of_a_log_are_not_read(tmp_path: Path) -> None:
    path = f"commitlog/{0:020}"
    log = Path(__file__).parents[3] / "fixtures" / "store" / "4.6.0-stopped" / path
    (tmp_path / "commitlog").mkdir()
    (tmp_path / path).write_bytes(log.read_bytes()[:-4096])
    os.truncate(tmp_path / path, 1 << 40)
    options = {"url": str(tmp_path), "files": json.dumps([[path, 1 << 40]])}
    source = CommitLogSource(options)
    (part,) = source.parts()
    assert part.end < 1 << 20
    with reading(str(tmp_path), path) as read_at:
        kinds = [
            kind
            for batch in source.batches_in(read_at, part)
            for kind in batch["kind"].to_pylist()
        ]
    assert kinds.count("record") > 80
    assert kinds[-1] == "damaged"
