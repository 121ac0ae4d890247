"""
The recorded cells of the interop table, and the run that records them.

As with the handover, what has been run is written down at once, and what is recorded
is not run again. A server is started once for all clients that are still missing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from conformance.harness.target import parse_target
from conformance.interop.cell_file import read_cells, write_cells
from conformance.interop.feature_cell import SETTINGS, Cell, all_cells
from conformance.interop.feature_run import run
from conformance.interop.handover import target_text
from conformance.interop.other_clients import ClientUnavailableError

FILE = Path(__file__).with_name("feature_cells.json")
"""What was recorded: a list of cells, one a line."""


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
    wanted: Iterable[Cell], file: Path, *, tell: Callable[[str], None]
) -> dict[str, Cell]:
    """Run those of *wanted* that *file* lacks, and return all that it has then."""
    cells = recorded(file)
    missing: dict[str, dict[str, list[Cell]]] = {}
    for cell in wanted:
        if cell.name not in cells:
            of_server = missing.setdefault(cell.server, {})
            of_server.setdefault(cell.client, []).append(cell)
    for server, clients in missing.items():
        tell(f"{server} is started")
        with parse_target(target_text(server), conf=SETTINGS) as target:
            for client, group in clients.items():
                with tempfile.TemporaryDirectory(prefix="interop-") as scratch:
                    try:
                        for done in run(group, target, Path(scratch)):
                            cells[done.name] = done
                            keep(cells, file)
                            tell(f"{done.name}: {_told(done)}")
                    except ClientUnavailableError as error:
                        tell(f"{client} is left for the next run: {error}")
    return cells


def _told(cell: Cell) -> str:
    return "as expected" if cell.as_expected else f"other: {cell.outcome}"
