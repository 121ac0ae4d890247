"""
The Java classes of this package, compiled where they are first needed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from conformance.harness.java import compile as java_classes
from conformance.harness.java.apache import class_path
from conformance.harness.java.compile import JavaCompileError

__all__ = [
    "FOLDER",
    "HOOKED_CLIENTS",
    "JavaCompileError",
    "compiled",
    "whole_class_path",
]

FOLDER = Path(__file__).with_name("java")
HOOKED_CLIENTS = FOLDER / "HookedClients.java"
"""Source that is compiled with each program on hooked clients."""
_ROOM = "bench"


def compiled(*sources: Path, release: str) -> Path:
    """Return the directory with the classes of *sources*, compiled for *release*."""
    return java_classes.compile_sources(sources, release, room=_ROOM)


def whole_class_path(*sources: Path, release: str, more: Sequence[Path] = ()) -> str:
    """Return a class path of the classes of *sources*, *more* and the *release*."""
    first = [str(compiled(*sources, release=release)), *map(str, more)]
    return os.pathsep.join([*first, class_path(release)])
