"""
Archive of loaded Java classes, mapped by every later start (AppCDS).

A suite starts the same two Java programs hundreds of times, and a quarter of a start is
the loading of classes. Java writes them into a file when a program ends
(``-XX:ArchiveClassesAtExit``, Java 13). It trusts the file only with the same Java and
jars; classes that are not in it are loaded as usual.

The files are in the user's cache. The first process that needs one makes it, by a
separate run of the program. Other processes go on without it until it exists.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from conformance.harness.java.runtime import cache_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

QUIETLY = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
"""Java must not print a warning for each class that is not in the archive."""

REHEARSAL = b"2"
"""Version of the warm-up, which decides the loaded classes."""

Run = Callable[[Sequence[str]], None]
"""Runs the program with more options of Java, from its start to its orderly end."""


def archive_options(command: Sequence[str], run: Run) -> tuple[str, ...]:
    """Return Java's options for a start of *command* with an archive of its classes.

    The classes depend on *command*: Java, its options and the program. *run* is called
    if the archive is missing and no other process makes it.
    """
    archive = _place(command)
    if not archive.exists():
        with _alone(archive) as may_make:
            if may_make and not archive.exists():
                _make(archive, run)
    # One that Java could not make is empty: the next run must not try again.
    if not archive.exists() or not archive.stat().st_size:
        return ()
    return (f"-XX:SharedArchiveFile={archive}", *QUIETLY)


def _make(archive: Path, run: Run) -> None:
    draft = archive.with_suffix(f".{os.getpid()}")
    run([f"-XX:ArchiveClassesAtExit={draft}", *QUIETLY])
    draft.touch()
    draft.replace(archive)


def _place(command: Sequence[str]) -> Path:
    """Return the path of the archive of *command*; a changed jar changes the path."""
    digest = hashlib.sha256(REHEARSAL)
    for word in command:
        digest.update(word.encode() + b"\0")
        for path in word.split(os.pathsep):
            if os.path.isfile(path):
                digest.update(str(os.stat(path).st_mtime_ns).encode())
    directory = cache_directory() / "classes"
    directory.mkdir(exist_ok=True)
    return directory / f"{digest.hexdigest()[:16]}.jsa"


@contextmanager
def _alone(archive: Path) -> Iterator[bool]:
    """Yield whether this process may make the archive; others are locked out."""
    lock: IO[bytes]
    with archive.with_suffix(".lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
