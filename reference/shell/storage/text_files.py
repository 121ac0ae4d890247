"""
Text files, which are read and replaced as a whole.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from reference.shell.storage.disk_space import files_error
from reference.shell.storage.file_calls import open_for_writing, sync_directory

_ESCAPE = "surrogateescape"
"""Keeps bytes that are not UTF-8, such as those of a comment in another encoding."""
_BEYOND_UTF_8 = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of surrogate pairs that stand for no byte; Java writes a question mark."""


def read_text(path: Path) -> str | None:
    """Return the text of *path*, None where it does not exist."""
    try:
        return path.read_text("utf-8", _ESCAPE)
    except (FileNotFoundError, IsADirectoryError):
        return None
    except OSError as error:
        raise files_error("cannot read", path, error) from error


def replace_text(path: Path, text: str) -> None:
    """Replace the content of *path* by *text*; a crash leaves either of them."""
    waiting = path.with_name(path.name + ".tmp")
    descriptor = open_for_writing(waiting, os.O_TRUNC)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_BEYOND_UTF_8.sub("?", text).encode("utf-8", _ESCAPE))
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise files_error("cannot write", path, error) from error
