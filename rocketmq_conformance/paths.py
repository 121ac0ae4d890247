"""
The directory of the packages, and commands that run a module of theirs.

A child process gets the directory first on its path, and never the current directory.
The environment of this process stays as it is. Programs of others inherit it, such as a
broker under test that is written in Python.
"""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_INSTALLED = _HERE / "packages"
SOURCES = _INSTALLED if _INSTALLED.is_dir() else _HERE.parent
"""Directory with the packages spec, reference, conformance and others."""
_LAUNCHER = _HERE / "run_module.py"


def add_to_path() -> None:
    """Make the packages importable in this process, before all others."""
    if sys.path[:1] != [str(SOURCES)]:
        sys.path.insert(0, str(SOURCES))


def module_command(
    module: str, *words: str | Path, sources: Path = SOURCES
) -> list[str]:
    """Return the command that runs *module* of *sources* as a program."""
    launcher = [sys.executable, "-P", str(_LAUNCHER), str(sources)]
    return [*launcher, module, *map(str, words)]
