"""
Class data archive of Spark's Java classes, for a faster start.

Loading ten thousand classes is half the cost of Spark's start. Java writes an archive
of them at the end of the first session (``-XX:ArchiveClassesAtExit``, Java 13). It uses
the archive only with the same Java and jars. The file is in the user's cache.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import pyspark

QUIETLY = "-Xlog:cds=off -Xlog:cds+dynamic=off"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassArchive:
    """Archive file, and Java's options for it."""

    options: str
    draft: Path | None = None
    """File that this session writes at its end; None if the archive exists."""
    file: Path | None = None

    def keep(self) -> None:
        """Rename the draft to the archive after Java has ended."""
        if self.draft and self.file and self.draft.exists():
            self.draft.replace(self.file)


def class_archive(java_home: Path) -> ClassArchive:
    """Return the archive for the Java of *java_home* and the installed Spark."""
    file = _directory() / f"spark-{_key(java_home)}.jsa"
    if file.exists():
        options = f"-XX:SharedArchiveFile={file} {QUIETLY}"
        return ClassArchive(options=options)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError:  # no writable cache, no archive
        return ClassArchive(options="")
    draft = file.with_suffix(f".{os.getpid()}")
    options = f"-XX:ArchiveClassesAtExit={draft} {QUIETLY}"
    return ClassArchive(options=options, draft=draft, file=file)


def _directory() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "rocketmq-conformance" / "classes"


def _key(java_home: Path) -> str:
    """Return a digest of the versions that an archive depends on."""
    jars = Path(pyspark.__file__).parent / "jars"
    known = hashlib.sha256(f"{pyspark.__version__} {jars}".encode())
    for file in (java_home / "release", java_home / "bin" / "java"):
        if file.exists():  # a wrapped Java is a script
            known.update(file.read_bytes()[:4096])
    return known.hexdigest()[:16]
