"""The directory of a report: the files of an earlier run are removed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from conformance.harness.failure import artifacts
from conformance.harness.report import report
from conformance.harness.report.pages import run_page

JUNIT = "junit.xml"
FILES = (report.FILE_NAME, *run_page.FILES, JUNIT)


def prepare_directory(directory: Path) -> None:
    """Remove the report of an earlier run from *directory*, and try to write there.

    Raises OSError where that is impossible.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=directory) as file:
        file.write(b"tried")
    for name in FILES:
        (directory / name).unlink(missing_ok=True)
    for folder, suffix in artifacts.FOLDERS.items():
        for old in (directory / folder).glob(f"*{suffix}"):
            old.unlink()
