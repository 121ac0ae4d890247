"""A store's directory that is opened read-only."""

from __future__ import annotations

from pathlib import Path

from reference.core.recovery_forecast.log_state import LogState
from reference.core.store.recovery.rules import REFERENCE
from reference.shell.storage.read_only_files import ReadOnlyStore

SIZE = 1 << 30


def test_the_end_of_a_sparse_log_is_found_without_its_holes(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    with (tmp_path / "commitlog" / f"{0:020d}").open("wb") as file:
        file.write(bytes(9_999) + b"\1")
        file.truncate(SIZE)
    read: list[int] = []
    log = LogState(ReadOnlyStore(tmp_path, read.append), SIZE, REFERENCE)
    log.load()
    assert log.end_on_disk == 10_000
    assert sum(read) <= 1 << 23
