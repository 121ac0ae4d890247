"""Cells of a table in a file, one a line: written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar


class CellFileError(Exception):
    """A file of cells cannot be read."""


class Named(Protocol):
    """A cell that has a name and can be written as JSON."""

    @property
    def name(self) -> str:
        """Unique name in the table."""

    def as_json(self) -> Mapping[str, object]:
        """Return it as it is recorded."""


C = TypeVar("C", bound=Named)


def read_cells(file: Path, from_json: Callable[[dict[str, Any]], C]) -> dict[str, C]:
    """Return the cells that *file* holds, by name; none if there is no file.

    Raises CellFileError.
    """
    if not file.exists():
        return {}
    try:
        shown = json.loads(file.read_text(encoding="utf-8"))
        cells = [from_json(one) for one in shown]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CellFileError(f"{file}: not a file of cells: {error}") from None
    return {cell.name: cell for cell in cells}


def write_cells(cells: Mapping[str, C], file: Path, *, order: Iterable[C]) -> None:
    """Write those of *cells* that *order* has, in its order."""
    ordered = [cells[one.name] for one in order if one.name in cells]
    lines = [json.dumps(cell.as_json(), ensure_ascii=False) for cell in ordered]
    beside = file.with_suffix(".tmp")
    beside.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    beside.replace(file)
