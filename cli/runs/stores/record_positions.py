"""Positions of the records of a commit-log file, by their sizes alone."""

from __future__ import annotations

from pathlib import Path

from cli.runs.stores.commit_log_files import mapped
from spec.store.message_record import MAGIC_V1, MAGIC_V2, SMALLEST_SIZE

_MAGICS = {magic.to_bytes(4, "big") for magic in (MAGIC_V1, MAGIC_V2)}


def record_around(path: Path, position: int) -> int | None:
    """Return the begin of the record that has *position* inside, or None.

    The records are followed from the begin of the file, up to the first damage.
    """
    at = 0
    with mapped(path) as data:
        while at < position and data[at + 4 : at + 8] in _MAGICS:
            size = int.from_bytes(data[at : at + 4], "big", signed=True)
            if size < SMALLEST_SIZE:
                return None
            if at + size > position:
                return at
            at += size
    return None
