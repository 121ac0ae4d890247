"""
Directory of the user for files that are made once: jars, classes, archives.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_path() -> Path:
    """Return the user's cache for this project, which may be missing."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "rocketmq-conformance"


def cache_directory() -> Path:
    """Return the user's cache for this project, which exists afterwards."""
    directory = cache_path()
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file or folder *name* in the cache; *make* makes it if it is missing.

    It is made in a directory of its own, so none is half there. Where another run makes
    the same one, the first in place is used.
    """
    whole = cache_path() / name
    if not whole.exists():
        whole.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=whole.parent) as draft:
            made = Path(draft, "made")
            make(made)
            try:
                made.replace(whole)
            except OSError:
                if not whole.exists():  # else another run was first
                    raise
    return whole
