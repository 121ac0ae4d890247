"""A store's directory that is opened read-only."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.core.recovery_forecast.log_state import LogState
from reference.core.recovery_forecast.store_view import ViewError
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


def test_a_file_deleted_behind_the_listing_is_an_error_of_the_view(
    tmp_path: Path,
) -> None:
    index = tmp_path / "index"
    index.mkdir()
    (index / "1").write_bytes(b"1")
    store = ReadOnlyStore(tmp_path)
    assert [one.name for one in store.entries("index")] == ["1"]
    (index / "1").unlink()
    with pytest.raises(ViewError, match="index/1 cannot be read: No such file"):
        store.data("index/1")
