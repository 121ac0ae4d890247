"""A store's directory that is opened read-only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reference.core.recovery_forecast.log_state import LogState
from reference.core.recovery_forecast.store_view import ViewError
from reference.core.store.recovery.rules import REFERENCE
from reference.shell.storage import mapping, read_only_files
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


def test_files_stay_mapped_without_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [str(number) for number in range(100)]
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    mapped: list[Path] = []
    map_file = mapping.read_only_map

    def noted(path: Path, descriptor: int, size: int) -> object:
        mapped.append(path)
        return map_file(path, descriptor, size)

    monkeypatch.setattr(read_only_files, "read_only_map", noted)
    store = ReadOnlyStore(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        assert [bytes(store.data(name)) for name in names] == [*map(str.encode, names)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert mapped == [tmp_path / name for name in names]
