"""
Directory of the user for files that are made once: jars, classes, archives.
"""

from __future__ import annotations

import os
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
