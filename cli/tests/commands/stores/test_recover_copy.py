"""Copies that ``rmqc recover`` writes."""

from __future__ import annotations

import json
import shutil
import tempfile
from errno import ENOSPC
from pathlib import Path

import pytest

from cli.tests.commands.stores.recover_command import (
    RELEASES,
    copied,
    foretold,
    recover,
)
from reference.shell.storage.store_copy import CopyError


def state(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return the state that the command may not change: names, times, bytes."""
    return {
        str(path.relative_to(directory)): (
            path.stat().st_mtime_ns,
            path.stat().st_ino,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in directory.rglob("*")
    }


def test_a_dry_run_leaves_every_byte_and_time(tmp_path: Path) -> None:
    store = copied(tmp_path, "4.6.0-killed")
    shutil.rmtree(store / "consumequeue" / "HandoverBills")
    before = state(tmp_path)
    for release in RELEASES:
        recover(store, "--release", release, "--dry-run")
    assert state(tmp_path) == before


def test_without_a_dry_run_a_copy_is_recovered(tmp_path: Path) -> None:
    store = copied(tmp_path, "4.6.0-killed")
    before = state(store)
    target = tmp_path / "copy"
    result = recover(store, "--release", "4.6.0", "--copy", target)
    assert result.exit_code == 0, result.output
    assert f"The copy at {target} was recovered" in result.output
    assert state(store) == before
    assert not (target / "abort").exists()
    assert foretold(target)["log"]["end"] == foretold(store)["log"]["end"]


def test_the_copy_for_another_release_is_only_cut(tmp_path: Path) -> None:
    store = copied(tmp_path, "5.3.3-killed")
    before = state(store)
    target = tmp_path / "copy"
    result = recover(store, "--release", "5.3.3", "--copy", target, "--format", "json")
    assert "was cut at" in json.loads(result.stdout)["copy"]["says"]
    assert state(store) == before
    assert not (target / "commitlog" / "00000000000000131072").exists()


def test_nothing_is_written_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, temporary = copied(tmp_path), tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = state(tmp_path)
    assert recover(store, "--release", "4.6.0").exit_code == 0
    assert state(tmp_path) == before
    both = recover(
        store, "--release", "4.6.0", "--dry-run", "--copy", tmp_path / "copy"
    )
    assert both.exit_code == 2
    assert state(tmp_path) == before


def test_a_copy_is_made_nowhere_in_the_store(tmp_path: Path) -> None:
    store = copied(tmp_path)
    result = recover(store, "--release", "4.6.0", "--copy", store / "copy")
    assert result.exit_code == 2
    assert "lies in the store itself" in result.output
    assert not (store / "copy").exists()


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("_copy_file", OSError(ENOSPC, "No space left on device")),
        ("check_space", CopyError("the disk is full")),
        ("shutil.copystat", KeyboardInterrupt()),
    ],
)
def test_a_copy_that_fails_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    error: BaseException,
    *,
    exists: bool,
) -> None:
    def failed(*_: object) -> None:
        raise error

    store, target = copied(tmp_path), tmp_path / "new" / "copy"
    if exists:
        target.mkdir(parents=True)
    monkeypatch.setattr(f"reference.shell.storage.store_copy.{step}", failed)
    result = recover(store, "--release", "4.6.0", "--copy", target)
    is_interrupted = isinstance(error, KeyboardInterrupt)
    assert result.exit_code == (130 if is_interrupted else 2)
    assert result.output.startswith("Error: ")
    assert result.output.count("\n") == 1
    assert target.exists() is target.parent.exists() is exists
    assert not exists or not any(target.iterdir())


def test_a_link_is_followed_and_never_written_through(tmp_path: Path) -> None:
    store = copied(tmp_path, "4.6.0-killed")
    elsewhere = tmp_path / "elsewhere"
    shutil.move(store / "commitlog", elsewhere)
    (store / "commitlog").symlink_to(elsewhere)
    (store / "loop").symlink_to(store)
    before = state(elsewhere)
    result = recover(store, "--release", "4.6.0", "--copy", tmp_path / "copy")
    assert result.exit_code == 0, result.output
    assert state(elsewhere) == before


def test_a_sparse_file_takes_no_more_of_the_disk_than_before(tmp_path: Path) -> None:
    store, target = copied(tmp_path), tmp_path / "copy"
    with (store / "sparse").open("wb") as file:
        file.write(b"\1" * 4096)
        file.truncate(6_000_000)
    assert recover(store, "--release", "4.6.0", "--copy", target).exit_code == 0
    before, after = store / "sparse", target / "sparse"
    assert after.read_bytes() == before.read_bytes()
    assert after.stat().st_blocks <= before.stat().st_blocks
