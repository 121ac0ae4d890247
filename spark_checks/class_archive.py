"""
Spark's Java classes, read, checked and laid out once, then mapped by every start.

Half of what a start of Spark costs is the loading of ten thousand classes. Java keeps
them in a file that it writes when the first session ends (``-XX:ArchiveClassesAtExit``,
Java 13), and trusts only together with the very Java and jars it was made with; what
does not fit is loaded as ever. The file is in the user's cache.
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
    """Where the classes are kept, and what Java is told of it."""

    options: str
    draft: Path | None = None
    """What this session writes when it ends; None if another did."""
    file: Path | None = None

    def keep(self) -> None:
        """Put the draft in its place, after Java has ended; whole or not at all."""
        if self.draft and self.file and self.draft.exists():
            self.draft.replace(self.file)


def class_archive(java_home: Path) -> ClassArchive:
    """Return the archive for the Java of *java_home* and the Spark that is here."""
    file = _directory() / f"spark-{_key(java_home)}.jsa"
    if file.exists():
        options = f"-XX:SharedArchiveFile={file} {QUIETLY}"
        return ClassArchive(options=options)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError:  # a user without a home goes without
        return ClassArchive(options="")
    draft = file.with_suffix(f".{os.getpid()}")
    options = f"-XX:ArchiveClassesAtExit={draft} {QUIETLY}"
    return ClassArchive(options=options, draft=draft, file=file)


def _directory() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "rocketmq-conformance" / "classes"


def _key(java_home: Path) -> str:
    """Return what an archive depends on, boiled down."""
    jars = Path(pyspark.__file__).parent / "jars"
    known = hashlib.sha256(f"{pyspark.__version__} {jars}".encode())
    for file in (java_home / "release", java_home / "bin" / "java"):
        if file.exists():  # one that is not the machine's is a script that names it
            known.update(file.read_bytes()[:4096])
    return known.hexdigest()[:16]
