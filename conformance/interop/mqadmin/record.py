"""
The record of the last run of all of mqadmin's commands, of which docs/admin.md is made.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from conformance.interop.mqadmin.compare import Taken, run_all

FILE = Path(__file__).with_name("admin_steps.json")
"""Recorded steps, one for each line, after the duration of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All steps of one run."""

    duration_s: int
    steps: tuple[Taken, ...]


def recorded(file: Path = FILE) -> Run | None:
    """Return the run that *file* holds; None if there is no file."""
    if not file.exists():
        return None
    shown = json.loads(file.read_text(encoding="utf-8"))
    return Run(
        duration_s=shown["duration_s"],
        steps=tuple(
            Taken(
                words=one["words"],
                cell_count=one["cells"],
                differences=tuple(one["differences"]),
                unknown=one["unknown"],
            )
            for one in shown["steps"]
        ),
    )


def record(file: Path = FILE) -> Run:
    """Run all steps now, write them to *file* and return them."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mqadmin-") as scratch:
        taken = run_all(Path(scratch))
    run = Run(duration_s=round(time.monotonic() - begun), steps=tuple(taken))
    lines = [
        json.dumps(
            {
                "words": one.words,
                "cells": one.cell_count,
                "differences": one.differences,
                "unknown": one.unknown,
            }
        )
        for one in run.steps
    ]
    text = ",\n".join(lines)
    head = f'{{"duration_s": {run.duration_s}, "steps": [\n'
    file.write_text(f"{head}{text}\n]}}\n", encoding="utf-8")
    return run
