"""
Real files and those in memory: the same store on both, and what a disk refuses.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.store.config_files import ConfigFiles
from reference.core.store.mapped.files import Files, FilesError
from reference.core.store.types import (
    FlushMode,
    GetMessageStatus,
    PutStatus,
    StoreOptions,
)
from reference.shell.storage.disk import DiskFiles
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    all_records,
    append_one,
    killed,
    message,
    started,
)
from spec.store.checkpoint import decode_checkpoint


def contents(files: Files, directory: str) -> dict[str, bytes]:
    """Return every file below *directory*."""
    found: dict[str, bytes] = {}
    for name in files.names(directory):
        path = f"{directory}/{name}"
        size = files.size(path)
        if size is None or (isinstance(files, DiskFiles) and files.names(path)):
            found |= contents(files, path)
        elif size:
            found[path] = bytes(files.open(path, size).view)
    return found


@given(
    puts=st.lists(st.tuples(st.integers(0, 1), st.binary(max_size=200)), max_size=15),
    times_killed=st.integers(0, 2),
)
@settings(max_examples=15, deadline=None)
def test_memory_and_disk_hold_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory,
    puts: list[tuple[int, bytes]],
    times_killed: int,
) -> None:
    found = []
    for files in (MemoryFiles(), DiskFiles(tmp_path_factory.mktemp("store"))):
        store = started(files)
        for at, (queue_id, body) in enumerate(puts):
            put = message("T", queue_id, body, "KEYS\x01k\x02TAGS\x01a\x02")
            append_one(store, put, NOON_MS + at)
        for _ in range(times_killed):
            store = killed(store, files)
        store.stop()
        directories = ("commitlog", "consumequeue", "index")
        found.append({name: contents(files, name) for name in directories})
    assert found[0] == found[1]


def test_a_full_disk_refuses_and_loses_nothing() -> None:
    files = MemoryFiles(space=900)
    store = started(files)
    acknowledged = 0
    while (result := append_one(store, message(body=bytes(60)), NOON_MS)).is_stored:
        acknowledged += 1
    assert result.status is PutStatus.SERVICE_NOT_AVAILABLE
    assert "no space left" in store.last_error
    files.space = 10_000
    store.dispatch()
    assert (
        append_one(store, message(body=b"again"), NOON_MS).queue_offset == acknowledged
    )
    store.dispatch()
    bodies = [record.body for record in all_records(store, "T", 0)]
    assert bodies == [bytes(60)] * acknowledged + [b"again"]


def test_a_disk_that_gives_no_space_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    files = DiskFiles(tmp_path / "store")
    store = started(files)
    append_one(store, message(body=b"kept"), NOON_MS)
    store.dispatch()
    big = StoreOptions(commit_log_file_size=1 << 20, index_enabled=False)
    other = started(DiskFiles(tmp_path / "other"), big)
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    result = append_one(other, message(), NOON_MS)
    assert result.status is PutStatus.SERVICE_NOT_AVAILABLE
    assert other.last_error.endswith("no space left on the disk")
    assert "\n" not in other.last_error
    assert store.get("T", 0, 0, 1).status is GetMessageStatus.FOUND
    other.stop()
    store.stop()


def test_a_second_store_on_the_same_files_does_not_start() -> None:
    files = MemoryFiles()
    started(files)
    with pytest.raises(FilesError, match="another store"):
        started(files)


def test_a_second_process_in_the_same_directory_does_not_start(tmp_path: Path) -> None:
    store = started(DiskFiles(tmp_path))
    program = (
        "import sys\n"
        "from reference.shell.storage.disk import DiskFiles\n"
        "DiskFiles(sys.argv[1]).lock()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.endswith(f"FilesError: another broker is running on {tmp_path}")
    store.stop()
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a//b", "", "a\0b"])
def test_no_path_leads_out_of_the_directory(tmp_path: Path, path: str) -> None:
    files = DiskFiles(tmp_path / "store")
    with pytest.raises(FilesError, match="is not a path inside the store"):
        files.open(path, 10)
    assert list(tmp_path.iterdir()) == []


def test_new_files_have_their_full_size_and_take_no_space(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    store = started(files, StoreOptions())
    append_one(store, message(properties="KEYS\x01k\x02"), NOON_MS)
    store.dispatch()
    first = "0" * 20
    assert (tmp_path / "commitlog" / first).stat().st_size == 1 << 30
    assert (tmp_path / "consumequeue/T/0" / first).stat().st_size == 6_000_000
    (index,) = (tmp_path / "index").iterdir()
    assert index.stat().st_size == 420_000_040
    used = sum(path.stat().st_blocks * 512 for path in tmp_path.rglob("*"))
    assert used < 1 << 20
    store.stop()


def test_the_abort_mark_is_there_while_the_store_runs(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    store = started(files)
    assert files.size("abort") == 0
    store.stop()
    assert files.size("abort") is None


@pytest.mark.parametrize("mode", FlushMode)
def test_a_flush_moves_the_checkpoint(mode: FlushMode, tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    store = started(files, StoreOptions(commit_log_file_size=4096, flush_mode=mode))
    append_one(store, message(), NOON_MS + 7)
    store.dispatch()
    store.flush_log()
    store.flush_queues()
    found = decode_checkpoint((tmp_path / "checkpoint").read_bytes())
    assert (found.physic_ms, found.logics_ms) == (NOON_MS + 7, NOON_MS + 7)
    store.stop()


def test_config_has_a_backup_that_is_read_when_the_file_is_broken(
    tmp_path: Path,
) -> None:
    files = DiskFiles(tmp_path)
    config = ConfigFiles(files)
    assert config.load("topics.json", dict) is None
    config.save("topics.json", {"a": 1})
    config.save("topics.json", {"a": 2})
    assert (tmp_path / "config" / "topics.json.bak").read_text() == '{\n\t"a":1\n}'
    assert config.load("topics.json", dict) == {"a": 2}
    for broken in ("", "{", "[1]"):
        (tmp_path / "config" / "topics.json").write_text(broken)
        assert config.load("topics.json", dict) == {"a": 1}
    (tmp_path / "config" / "topics.json.bak").write_text("{")
    with pytest.raises(FilesError, match=r"config/topics\.json is broken"):
        config.load("topics.json", dict)


def test_options_default_to_those_of_4_6_0() -> None:
    options = StoreOptions()
    assert options.commit_log_file_size == 1_073_741_824
    assert TINY.delay_levels == options.delay_levels
