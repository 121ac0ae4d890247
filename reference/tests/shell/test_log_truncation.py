"""The end of the written log before a start, and the warning after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.core.store.message_store import MessageStore
from reference.shell.storage.disk import DiskFiles
from reference.shell.storage.log_truncation import truncation_warning, written_end
from reference.tests.store.small_stores import NOON_MS, TINY, message

PROPERTIES = "KEYS\x01a"
"""The last byte of a record is not zero then."""


@pytest.fixture
def ends(tmp_path: Path) -> list[int]:
    """Return the end of the log after each message of a stopped store of two files."""
    store = MessageStore(DiskFiles(tmp_path), TINY, NOON_MS)
    found = []
    for _ in range(12):
        store.append([message(properties=PROPERTIES)], NOON_MS)
        found.append(store.log.files.end)
    store.stop()
    assert len(list((tmp_path / "commitlog").iterdir())) == 2
    return found


def restarted(directory: Path) -> int:
    """Return the end of the log after another start."""
    store = MessageStore(DiskFiles(directory), TINY, NOON_MS)
    end = store.log.files.end
    store.stop()
    return end


def damage(directory: Path, offset: int) -> None:
    """Make the record at *offset* of the log unreadable."""
    base = offset - offset % TINY.commit_log_file_size
    with (directory / "commitlog" / f"{base:020}").open("r+b") as file:
        file.seek(offset - base)
        file.write(b"\xff" * 8)


def test_a_sound_store_has_no_warning(tmp_path: Path, ends: list[int]) -> None:
    before = written_end(tmp_path)
    assert before == ends[-1]
    assert truncation_warning(tmp_path, before, restarted(tmp_path)) == ""


@pytest.mark.parametrize("first_lost", [11, 2])
def test_the_warning_has_the_place_and_the_bytes(
    tmp_path: Path, ends: list[int], first_lost: int
) -> None:
    place = ends[first_lost - 1]
    damage(tmp_path, place)
    before = written_end(tmp_path)
    warning = truncation_warning(tmp_path, before, restarted(tmp_path))
    assert f"at {place:,} and removed {ends[-1] - place:,} bytes" in warning
    assert f"rmqc recover {tmp_path} --release 4.6" in warning
    assert "\n" not in warning
    assert written_end(tmp_path) == place


def test_a_store_without_a_log_has_no_bytes(tmp_path: Path) -> None:
    assert written_end(tmp_path) == 0
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / "notes").write_text("x", encoding="utf-8")
    (tmp_path / "commitlog" / f"{0:020}").write_bytes(bytes(1024))
    assert written_end(tmp_path) == 0
