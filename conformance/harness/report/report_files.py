"""Files of a report: none is left incomplete."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def write_whole(file: Path, text: str) -> None:
    """Write *text* into *file*, which is removed where that fails."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        remove(file)
        raise OSError(error.errno, error.strerror, str(file)) from None


def remove(file: Path) -> None:
    """Remove *file*, if it is there and that is possible."""
    with suppress(OSError):
        file.unlink()
