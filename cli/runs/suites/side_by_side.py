"""
The reports of several targets in one directory: a folder for each, and their matrix.

A later run into the same directory keeps the earlier report in ``former``. The matrix
then shows the trend.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from conformance.harness.report.pages.matrix import matrix_of, read_linked, render
from conformance.harness.report.report import FILE_NAME, read_report

FORMER = "former"
"""The folder of a target's earlier reports, each named after its time."""
KEPT = 20
"""Number of a target's earlier reports that are kept."""
NAME = "matrix.html"


def folder_of(report: Path, target: str) -> Path:
    """Return the folder below *report* for the reports on *target*."""
    return report / re.sub(r"[^A-Za-z0-9.]+", "-", target).strip("-")


def keep_former(folder: Path) -> None:
    """Keep the report that is in *folder*, if there is one, among the former."""
    file = folder / FILE_NAME
    try:
        at = datetime.fromisoformat(read_report(file).at)
    except ValueError:
        return  # missing, or without the time that a trend needs
    former = folder / FORMER
    former.mkdir(exist_ok=True)
    file.replace(former / f"{at:%Y%m%dT%H%M%S}.json")
    for oldest in sorted(former.glob("*.json"))[:-KEPT]:
        oldest.unlink()


def write_matrix(report: Path, folders: Iterable[Path]) -> str:
    """Put the reports in *folders* side by side. Return a line with the result."""
    wanted = list(dict.fromkeys(folders))
    there = [folder for folder in wanted if (folder / FILE_NAME).exists()]
    if not there:
        return f"{report}: no target has a report"
    files = [file for folder in there for file in _runs(folder)]
    out = report / NAME
    made = matrix_of(read_linked(files, out))
    out.write_text(render(made, out.suffix), encoding="utf-8")
    return f"{out}: {len(there)} targets side by side"


def _runs(folder: Path) -> Sequence[Path]:
    """Return the reports of all runs in *folder*, the last one last."""
    return [*sorted((folder / FORMER).glob("*.json")), folder / FILE_NAME]
