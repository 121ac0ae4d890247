"""``rmqc report handover`` runs none of the cells that are recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.tests.pages.reports import page_made
from conformance.interop.handover import record as handover_record
from conformance.interop.handover.cell import Cell, Given
from conformance.interop.handover.record import FILE, recorded
from conformance.interop.handover.table import page


def refuse(writer: str, ending: str, directory: Path) -> Given:
    """Stand for a writer that cannot write."""
    raise AssertionError(f"{writer} is not to write, nor {ending} in {directory}")


def test_the_page_of_recorded_cells_is_written(tmp_path: Path) -> None:
    cells, out = tmp_path / "cells.json", tmp_path / "page.md"
    shutil.copy(FILE, cells)
    assert f"{len(recorded())} cells" in page_made("handover", out, cells)
    assert out.read_text(encoding="utf-8") == page(recorded())


def test_a_writer_that_fails_leaves_its_cells_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover_record, "write_store", refuse)
    cells, out = tmp_path / "cells.json", tmp_path / "page.md"
    shutil.copy(FILE, cells)
    output = page_made("handover", out, cells, "--again", "5.4.0")
    assert "left for the next run: 5.4.0 is not to write" in output
    left = recorded(cells)
    assert Cell(writer="4.4.0", reader="4.6.0", ending="stop").name in left
    assert all("5.4.0" not in name for name in left)
    assert "not run" in out.read_text(encoding="utf-8")
