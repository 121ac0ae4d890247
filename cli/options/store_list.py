"""Stores of a command: paths, URLs, local patterns, and a list in a file."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import click


def listed_stores(arguments: Sequence[str], file: TextIO | None) -> list[str]:
    """Return the stores that *arguments* and the lines of *file* name, each once.

    A local path with ``*``, ``?`` or ``[`` that does not exist is a pattern. Empty
    lines of the file, and those that begin with ``#``, are left out. Raises
    UsageError without a store.
    """
    try:
        lines = [line.strip() for line in file] if file else []
    except UnicodeDecodeError as error:
        raise click.UsageError(f"--stores-from: not a list of paths: {error}") from None
    names = [*arguments, *(line for line in lines if line and line[0] != "#")]
    if "" in names:  # else it is the current directory
        raise click.UsageError("the path of a store is empty")
    stores = [store for name in names for store in _matches(name)]
    if not stores:
        raise click.UsageError("no store is given: name one, or use --stores-from")
    return list(dict.fromkeys(stores))


def _matches(name: str) -> Iterator[str]:
    """Yield the stores that *name* stands for."""
    if "://" in name or not glob.has_magic(name) or Path(name).exists():
        yield name
        return
    found = sorted(glob.glob(name))
    if not found:
        raise click.UsageError(f"nothing matches {name}")
    yield from found
