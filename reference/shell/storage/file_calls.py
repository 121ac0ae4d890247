"""
Calls of the system on files and directories; its refusals become FilesError.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
from pathlib import Path

from reference.shell.storage.disk_space import files_error

_ESCAPE = "surrogateescape"
"""Keeps bytes that are not UTF-8, such as those of a comment in another encoding."""
_BEYOND_UTF_8 = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of surrogate pairs that stand for no byte; Java writes a question mark."""


def open_sized(path: Path, size: int) -> int:
    """Return *path* open for mapping, at least *size* bytes long."""
    number = open_for_writing(path)
    try:
        if os.fstat(number).st_size < size:
            os.ftruncate(number, size)  # [REC-CHECKPOINT-003]
    except OSError as error:
        os.close(number)
        raise files_error(f"cannot make {size} bytes of", path, error) from error
    return number


def make_sized(path: Path, size: int, waiting: Path) -> None:
    """Create the file *path* of *size* zeros, under the name *waiting* until then.

    Otherwise a power cut could leave an empty file, on which no 4.6.0 broker starts.
    """
    number = open_for_writing(waiting, os.O_TRUNC)
    try:
        os.ftruncate(number, size)
        path.parent.mkdir(parents=True, exist_ok=True)
        waiting.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            waiting.unlink()
        raise files_error(f"cannot make {size} bytes of", path, error) from error
    finally:
        os.close(number)


def open_for_writing(path: Path, flags: int = 0) -> int:
    """Return *path* open for reading and writing; it and its directory are made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o644)
    except OSError as error:
        raise files_error("cannot open", path, error) from error


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


def sync(descriptor: int, path: Path) -> None:
    """Wait until the file's bytes are on disk."""
    try:
        (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(descriptor)
    except OSError as error:
        raise files_error("cannot flush", path, error) from error


def sync_directory(directory: Path) -> None:
    """Flush the names in *directory* to disk."""
    number = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def raise_open_files_limit() -> None:
    """Let this process open as many files as its hard limit permits (MaxFDLimit).

    Each mapped file of a store needs one. The usual limit of 1,024 is too low for a
    few hundred queues.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS refuses the infinite limit that it states.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
