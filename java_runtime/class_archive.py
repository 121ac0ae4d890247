"""
Archive of loaded Java classes, mapped by later starts of the same program (AppCDS).

Loading classes is a quarter of the start of a broker, and half of Spark's. Java writes
an archive of them when a program ends (``-XX:ArchiveClassesAtExit``, Java 13), or
later from the list of them (``-Xshare:dump``). Only the second kind has the classes of
old files, before version 50, and Java's own objects. Java uses the archive only with
the same Java and jars. It loads other classes as usual. The files are in the user's
cache.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from filelock import FileLock

from java_runtime.user_cache import cache_path

QUIETLY = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
"""Options against a warning for each class that is not in the archive."""
_COLLECTORS = ("-XX:+UseSerialGC", "-XX:+UseParallelGC")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassArchive:
    """Archive of one program, which may be missing."""

    file: Path

    @classmethod
    def of_program(cls, parts: Iterable[bytes]) -> Self:
        """Return the archive of a program; *parts* is all that its classes depend on.

        A change of one part is another archive.
        """
        digest = hashlib.sha256()
        for part in parts:
            digest.update(len(part).to_bytes(8, "big") + part)
        name = f"{digest.hexdigest()[:16]}.jsa"
        return cls(file=cache_path() / "classes" / name)

    def options(self) -> tuple[str, ...]:
        """Return Java's options for a start; none if the archive is missing or empty.

        One that this user may not read is missing: HOME may be of another user.

        An empty archive is one that Java could not write: later runs do not try again.
        """
        if not self._size():
            return ()
        return (f"-XX:SharedArchiveFile={self.file}", *QUIETLY)

    @contextmanager
    def draft(self) -> Iterator[Path | None]:
        """Yield the file for a program to write, which becomes the archive at the end.

        Yields None if the archive exists, if another process writes it, or if the cache
        is not writable. After an error, the draft may be incomplete and is removed.
        """
        with ExitStack() as last:
            draft = self._claim(last)
            try:
                yield draft
                if draft is not None and draft.exists():
                    draft.replace(self.file)
            finally:
                if draft is not None:
                    draft.unlink(missing_ok=True)

    def _size(self) -> int | None:
        """Return the bytes of the archive; None if it is missing or not readable."""
        if not os.access(self.file, os.R_OK):
            return None
        return self.file.stat().st_size

    def _claim(self, last: ExitStack) -> Path | None:
        """Return the draft's path with the archive locked, or None; *last* unlocks."""
        if self._size() is not None:
            return None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            last.enter_context(FileLock(self.file.with_suffix(".lock"), timeout=0))
        except OSError:  # not writable, or locked
            return None
        # The process that had the lock before may have written the archive.
        if self._size() is not None:
            return None
        return self.file.with_suffix(f".{os.getpid()}")


def writing_options(draft: Path) -> tuple[str, ...]:
    """Return Java's options for a program that writes *draft* at its end."""
    return (f"-XX:ArchiveClassesAtExit={draft}", *QUIETLY)


def listing_options(class_list: Path) -> tuple[str, ...]:
    """Return Java's options for a program that lists its classes in *class_list*."""
    return (f"-XX:DumpLoadedClassList={class_list}", *QUIETLY)


def write_archive(java: Sequence[str], class_list: Path, draft: Path) -> None:
    """Write the classes of *class_list* to *draft*.

    *java* is the program with its options and class path. Raises OSError if Java does
    not run, CalledProcessError if it fails. Of the collectors only G1 writes Java's
    objects, and each reads them.
    """
    program, *options = (word for word in java if word not in _COLLECTORS)
    dump = ("-XX:+UseG1GC", "-Xshare:dump", f"-XX:SharedClassListFile={class_list}")
    command = [program, *options, *dump, f"-XX:SharedArchiveFile={draft}"]
    subprocess.run(command, check=True, capture_output=True)
