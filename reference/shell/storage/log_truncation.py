"""
Truncation of the commit log by recovery, as one line for an operator.

Recovery itself does no input or output besides its files (``reference.core``). The end
of the written bytes is therefore read before a start, and compared after it.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from reference.shell.storage.disk_space import written_size_of
from spec.store.file_names import COMMIT_LOG

RELEASE = "4.6"
"""Release with the recovery of the reference, for ``rmqc recover``."""
_NAME = re.compile(r"[0-9]{20}")


def written_end(store: Path) -> int:
    """Return the commit-log offset after the last byte that is not zero; 0 without."""
    folder = store / COMMIT_LOG
    names = os.listdir(folder) if folder.is_dir() else []
    for name in sorted(filter(_NAME.fullmatch, names), reverse=True):
        if size := _written_size(folder / name):
            return int(name) + size
    return 0


def truncation_warning(store: Path, before: int, end: int) -> str:
    """Return the warning that the log, written up to *before*, now ends at *end*.

    An empty text if nothing was truncated.
    """
    if before <= end:
        return ""
    return (
        f"warning: recovery truncated the commit log of {store} at {end:,} and removed"
        f" {before - end:,} bytes behind it; rmqc recover {shlex.quote(str(store))}"
        f" --release {RELEASE} forecasts this before a start"
    )


def _written_size(path: Path) -> int:
    """Return the number of bytes up to the last one of the file that is not zero."""
    with path.open("rb", buffering=0) as file:
        return written_size_of(file.fileno())
