"""
The recording files record the same operations as the real disk.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reference.core.store.mapped.files import Files
from reference.shell.storage.disk import DiskFiles
from reference.tests.crash.recording_files import RecordingFiles
from reference.tests.crash.trace import Event, Settled, Written

Call = tuple[str, str]
"""An operation, and its file name."""


class WatchedSystem:
    """Notes the calls of `os` that decide what a power cut may leave."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self._watch(monkeypatch, os, "ftruncate", "Sized")
        self._watch(monkeypatch, os, "fdatasync", "Flushed")
        self._watch(monkeypatch, os, "fsync", "Flushed")
        self._watch(monkeypatch, Path, "replace", "Renamed")
        self._watch(monkeypatch, Path, "unlink", "Deleted")

    def _watch(
        self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, word: str
    ) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def watched(*values: Any, **named: Any) -> Any:
            self.calls.append(word)
            return real(*values, **named)

        monkeypatch.setattr(owner, name, watched)


def use(files: Files) -> None:
    """Do with *files* all that a store does."""
    file = files.open("commitlog/00000000000000000000", 8192)
    file.clear(0)
    file.write(b"x" * 5000, 10)
    file.flush()
    file.clear(100)
    file.clear(100)
    files.replace_text("config/topics.json", "{}")
    files.replace_text("abort", "")
    files.delete("abort")
    files.delete("abort")
    file.close()
    files.delete("commitlog/00000000000000000000")


def words_of(events: list[Event]) -> list[str]:
    """Return the events that are calls: mapped bytes are written without one."""
    words = []
    for event in events:
        if not isinstance(event, Written):
            is_settled = isinstance(event, Settled)
            words.append("Flushed" if is_settled else type(event).__name__)
    return [word for word in words if word != "Made"]


def test_both_call_the_system_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Event] = []
    use(RecordingFiles({}, events))
    watched = WatchedSystem(monkeypatch)
    use(DiskFiles(tmp_path))
    # A text gets its size by being written, and a missing file is deleted in vain.
    expected = [
        "Sized",
        "Renamed",
        "Flushed",
        "Flushed",
        *["Flushed", "Renamed", "Flushed"] * 2,
        "Deleted",
        "Deleted",
    ]
    words = words_of(events)
    assert [word for word in words if word != "Sized"] == expected[1:]
    assert words[0] == "Sized"
    missing = watched.calls.index("Deleted") + 1
    assert watched.calls[:missing] + watched.calls[missing + 1 :] == expected


def test_a_cleared_end_is_zeros_on_disk(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    file = files.open("commitlog/00000000000000000000", 1 << 20)
    for at in (0, 5000, 300_000, 1_000_000):
        file.write(b"data", at)
    file.clear(5002)
    expected = bytearray(1 << 20)
    expected[:4], expected[5000:5002] = b"data", b"da"
    assert (tmp_path / "commitlog" / "00000000000000000000").read_bytes() == expected
    assert list(tmp_path.glob("*.tmp")) == []


def test_a_file_that_was_being_made_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "new0.tmp").write_bytes(b"left by a power cut")
    files = DiskFiles(tmp_path)
    assert bytes(files.open("index/20200101000000000", 100).view) == bytes(100)


def test_a_file_can_be_closed_while_somebody_reads_it(tmp_path: Path) -> None:
    file = DiskFiles(tmp_path).open("consumequeue/T/0/00000000000000000000", 40)
    units = struct.iter_unpack(">qiq", file.view)
    assert next(units) == (0, 0, 0)
    file.close()
    assert next(units) == (0, 0, 0)
