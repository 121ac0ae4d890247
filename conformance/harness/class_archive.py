"""
Java classes that are read, checked and laid out once, then mapped by every start.

A suite starts the same two Java programs hundreds of times, and a quarter of what a
start costs is the loading of its classes. Java can keep them in a file, which it writes
when a program ends and trusts only together with the very Java and jars it was made
with (``-XX:ArchiveClassesAtExit``, Java 13). Nothing else changes: what does not fit
is loaded as ever.

The files are kept in the user's cache. Each is made by the first who wants it, by a run
of the program that nobody else sees; others go without until it is there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from conformance.harness.java import cache_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

QUIETLY = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
"""What does not fit is loaded as ever, and nobody needs to read of it."""

REHEARSAL = b"2"
"""Of which rehearsal: another one loads other classes."""

Run = Callable[[Sequence[str]], None]
"""Runs the program with more options of Java, from its start to its orderly end."""


def archive_options(command: Sequence[str], run: Run) -> tuple[str, ...]:
    """
    Return what Java needs for a start of *command* with the classes of earlier ones.

    *command* is Java, its options and the program: whatever the classes depend on.
    *run* is called where there is no archive yet and nobody else makes it.
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
    """Return where the archive of *command* is kept; a changed jar has another."""
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
    """Yield whether nobody else makes this archive now, and keep others from it."""
    lock: IO[bytes]
    with archive.with_suffix(".lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
