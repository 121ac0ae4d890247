"""
Files of a report: those of an earlier run are removed, and none is left incomplete.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

FILES = ("report.json", "report.html", "junit.xml", "summary.md", "badge.svg")
FOLDERS = {"captures": "*.pcapng", "counterexamples": "*.json"}
"""Folders of a report, each with the names of its files."""


def prepare_directory(directory: Path) -> None:
    """Remove the report of an earlier run from *directory*, and try to write there.

    Raises OSError where that is impossible.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=directory) as file:
        file.write(b"tried")
    for name in FILES:
        (directory / name).unlink(missing_ok=True)
    for folder, names in FOLDERS.items():
        for old in (directory / folder).glob(names):
            old.unlink()


def write_whole(file: Path, text: str) -> None:
    """Write *text* into *file*, which is removed where that fails."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        remove(file)
        raise OSError(error.errno, error.strerror, str(file)) from None


def remove(file: Path) -> None:
    """Remove *file*, if it is there and that is possible."""
    with suppress(OSError):
        file.unlink()
