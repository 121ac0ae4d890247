"""The manifest of recorded bytes agrees with the folders, file by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.releases import PINNED
from conformance.harness.report.manifest import (
    FIXTURES,
    Recording,
    hash_folder,
    read_manifest,
    write_manifest,
)

RECORDED_FOLDERS = (
    *("batches", "client", "failovers", "parts", "signatures"),
    *("starts", "store", "wire"),
)
"""Folders of ``fixtures`` in which nothing stands that a real release did not write."""

SIZE_LIMIT = 4_000_000
"""Recordings stay small enough to be cloned without a thought."""


def recorded_folders() -> set[str]:
    return {
        folder.relative_to(FIXTURES).as_posix()
        for name in RECORDED_FOLDERS
        for folder in (FIXTURES / name).iterdir()
    }


def test_each_recording_has_an_entry_and_each_entry_a_recording() -> None:
    assert recorded_folders() == set(read_manifest())


@pytest.mark.parametrize("path", sorted(read_manifest()))
def test_a_recording_is_as_it_was_recorded(path: str) -> None:
    entry = read_manifest()[path]
    assert hash_folder(FIXTURES / path) == entry.sha256
    assert entry.release in PINNED, entry.release


def test_the_recordings_are_small() -> None:
    files = [
        file
        for name in RECORDED_FOLDERS
        for file in (FIXTURES / name).rglob("*")
        if file.is_file()
    ]
    assert sum(file.stat().st_size for file in files) < SIZE_LIMIT


def test_a_manifest_reads_back_as_it_was_written(tmp_path: Path) -> None:
    entry = Recording(
        path="store/x",
        release="4.6.0",
        program="a.b.C",
        command='record "it" \\ again',
        date="2026-01-01",
        summary="A line.",
        sha256={"consumequeue/%RETRY%g/0/0000": "00" * 32},
    )
    write_manifest({entry.path: entry}, tmp_path / "MANIFEST.toml")
    assert read_manifest(tmp_path / "MANIFEST.toml") == {entry.path: entry}
