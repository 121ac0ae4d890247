"""
Recorded cells of the interop table, and the run that records them.

Each cell is recorded when its run ends, and recorded cells are not run again. A server
is started once for all clients with missing cells.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import target_text
from conformance.interop.programs.cell import SETTINGS, Cell, all_cells
from conformance.interop.programs.other_clients import ClientUnavailableError
from conformance.interop.programs.run import run
from conformance.interop.tools.cell_file import read_cells, write_cells

FILE = Path(__file__).with_name("feature_cells.json")
"""Recorded cells, one for each line."""


def recorded(file: Path = FILE) -> dict[str, Cell]:
    """Return the cells that *file* holds, by name; none if there is no file."""
    return read_cells(file, Cell.from_json)


def keep(cells: dict[str, Cell], file: Path) -> None:
    """Write *cells* in the order of the page, whole or not at all."""
    write_cells(cells, file, order=all_cells())


def forget(words: set[str], file: Path = FILE) -> None:
    """Take the cells of these clients, features and servers out of *file*; or all."""
    left = {
        name: cell
        for name, cell in recorded(file).items()
        if not words & {cell.client, cell.feature, cell.server, "all"}
    }
    if words:
        keep(left, file)


def run_missing(
    requested: Iterable[Cell], file: Path, *, report: Callable[[str], None]
) -> dict[str, Cell]:
    """Run the cells of *requested* that *file* lacks, and return all recorded cells."""
    cells = recorded(file)
    missing: dict[str, dict[str, list[Cell]]] = {}
    for cell in requested:
        if cell.name not in cells:
            of_server = missing.setdefault(cell.server, {})
            of_server.setdefault(cell.client, []).append(cell)
    for server, clients in missing.items():
        report(f"{server} is started")
        with parse_target(target_text(server), conf=SETTINGS) as target:
            for client, group in clients.items():
                with tempfile.TemporaryDirectory(prefix="interop-") as scratch:
                    try:
                        for done in run(group, target, Path(scratch)):
                            cells[done.name] = done
                            keep(cells, file)
                            report(f"{done.name}: {_summary(done)}")
                    except ClientUnavailableError as error:
                        report(f"{client} is left for the next run: {error}")
    return cells


def _summary(cell: Cell) -> str:
    return "as expected" if cell.as_expected else f"other: {cell.outcome}"
