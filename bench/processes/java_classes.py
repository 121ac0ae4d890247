"""
The Java classes of this room, compiled where they are first needed.
"""

from __future__ import annotations

import os
from pathlib import Path

from conformance.harness.java import compile as java_classes
from conformance.harness.java.apache import class_path
from conformance.harness.java.compile import JavaCompileError

__all__ = ["FOLDER", "JavaCompileError", "compiled", "whole_class_path"]

FOLDER = Path(__file__).with_name("java")
_ROOM = "bench"


def compiled(source: Path, release: str) -> Path:
    """Return the directory with the classes of *source*, compiled against *release*."""
    return java_classes.compile_sources([source], release, room=_ROOM)


def whole_class_path(source: Path, release: str, *more: Path) -> str:
    """Return a class path of *source*'s classes, *more* jars and the *release*."""
    first = [str(compiled(source, release)), *(str(jar) for jar in more)]
    return os.pathsep.join([*first, class_path(release)])
