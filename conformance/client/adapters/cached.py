"""Clients and adapters in the user's cache, each fetched or built once."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from java_runtime.user_cache import cache_directory


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file or folder *name* in the cache; *make* makes it if it is missing.

    It is made in a directory of its own, so none is half there. Where another run makes
    the same one, the first in place is used.
    """
    whole = cache_directory() / "adapters" / name
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
