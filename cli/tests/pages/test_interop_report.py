"""``rmqc report interop`` runs none of the cells that are recorded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cli.tests.pages.reports import page_made
from conformance.harness.targets.target import Target
from conformance.interop.programs import cell as feature_cell
from conformance.interop.programs import record as feature_record
from conformance.interop.programs.cell import Cell
from conformance.interop.programs.other_clients import ClientUnavailableError
from conformance.interop.programs.record import FILE, recorded
from conformance.interop.programs.table import page


def refuse(cells: Sequence[Cell], target: Target, _: Path) -> Iterator[Cell]:
    """Stand for a client that is not installed."""
    raise ClientUnavailableError(f"{cells[0].client} is not for {target.text}")


@pytest.fixture(autouse=True)
def _only_what_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restrict the cells to those that are recorded."""
    wanted = list(recorded().values())
    monkeypatch.setattr(feature_cell, "all_cells", lambda: wanted)


def test_the_page_of_recorded_cells_is_written(tmp_path: Path) -> None:
    cells, out = tmp_path / "cells.json", tmp_path / "page.md"
    shutil.copy(FILE, cells)
    assert f"{len(recorded())} cells" in page_made("interop", out, cells)
    assert out.read_text(encoding="utf-8") == page(recorded())


def test_a_client_that_is_not_here_leaves_its_cells_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, out = tmp_path / "cells.json", tmp_path / "page.md"
    kept = {
        name: cell
        for name, cell in recorded().items()
        if (cell.client, cell.server) != ("Node", "reference")
    }
    feature_record.keep(kept, cells)
    monkeypatch.setattr(feature_record, "run", refuse)
    output = page_made("interop", out, cells)
    assert "Node is left for the next run: Node is not for embedded:" in output
    assert recorded(cells) == kept
    assert "not run" in out.read_text(encoding="utf-8")
