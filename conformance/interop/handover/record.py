"""
The recorded cells of the handover matrix, and the run that records them.

Each cell is written down as soon as it has been run, so that a run that was killed goes
on where it was. A writer is run once for all of its readers that are still missing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from conformance.harness.client.peer_errors import PeerError
from conformance.interop.handover.cell import Cell, all_cells, run, write_store
from conformance.interop.tools.cell_file import read_cells, write_cells

FILE = Path(__file__).with_name("handover_cells.json")
"""Recorded cells, one for each line."""


def recorded(file: Path = FILE) -> dict[str, Cell]:
    """Return the cells that *file* holds, by name; none if there is no file."""
    return read_cells(file, Cell.from_json)


def keep(cells: dict[str, Cell], file: Path) -> None:
    """Write *cells* in the order of the matrix, whole or not at all."""
    write_cells(cells, file, order=all_cells())


def forget(makes: set[str], file: Path = FILE) -> None:
    """Take the cells that one of *makes* has a part in out of *file*; or all."""
    left = {
        name: cell
        for name, cell in recorded(file).items()
        if not makes & {cell.writer, cell.reader, "all"}
    }
    if makes:
        keep(left, file)


def run_missing(
    requested: Iterable[Cell], file: Path, *, report: Callable[[str], None]
) -> dict[str, Cell]:
    """Run the cells of *requested* that *file* lacks, and return all recorded cells."""
    cells = recorded(file)
    missing: dict[tuple[str, str], list[Cell]] = {}
    for cell in requested:
        if cell.name not in cells:
            missing.setdefault((cell.writer, cell.ending), []).append(cell)
    for (writer, ending), readers in missing.items():
        with tempfile.TemporaryDirectory(prefix="handover-") as scratch:
            report(f"{writer} writes, and ends by a {ending}")
            try:
                given = write_store(writer, ending, Path(scratch))
            except (AssertionError, PeerError) as error:
                reason = str(error).partition("\n")[0]
                report(f"its cells are left for the next run: {reason}")
                continue
            for cell in readers:
                done = run(cell, given, Path(scratch))
                cells[cell.name] = done
                keep(cells, file)
                found = done.refusal or f"{len(done.differences)} differences"
                report(f"{cell.name}: {found}")
    return cells
