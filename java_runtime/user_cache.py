"""
Directory of the user for files that are made once: jars, classes, archives.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_NO_HOME = os.devnull
"""Root of the cache of a user without a home: nothing can be created below it."""


def cache_path() -> Path:
    """Return the user's cache for this project, which may be missing.

    A container may run as a user that has neither HOME nor an entry in passwd.
    """
    root = os.environ.get("XDG_CACHE_HOME")
    if not root:
        with suppress(RuntimeError):
            root = str(Path.home() / ".cache")
    return Path(root or _NO_HOME) / "rocketmq-conformance"


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
