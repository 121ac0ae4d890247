"""
Jars of the real RocketMQ, fetched with the Ivy that PySpark carries.

Versions are pinned: for each set of modules, ``jars.lock`` beside this file lists every
jar of its class path with its SHA-256. A jar with other bytes is never used. Jars are
in the user's cache, not in the checkout. A file lock lets parallel runs share it.
``python -m conformance.harness.java.pin_jars`` writes the pins.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from xml.sax.saxutils import quoteattr

from conformance.harness.java.ivy import JarsUnavailableError, run_ivy
from java_runtime.user_cache import cache_directory

LOCK_FILE = Path(__file__).with_name("jars.lock")
"""Jars of each set, and their SHA-256."""


@dataclass(frozen=True, slots=True, order=True)
class Coordinate:
    """One artifact of a Maven repository: ``organisation:module:revision``."""

    organisation: str
    module: str
    revision: str
    classifier: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the coordinate that *text* writes with colons."""
        parts = text.split(":")
        if len(parts) not in {3, 4} or not all(parts):
            raise JarsUnavailableError(f"{text!r} is not organisation:module:revision")
        return cls(*parts)

    @property
    def path(self) -> Path:
        """Path of the jar in the cache."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        name = f"{self.module}-{self.revision}{suffix}.jar"
        return Path(self.organisation, self.module, self.revision, name)

    def __str__(self) -> str:
        base = f"{self.organisation}:{self.module}:{self.revision}"
        return f"{base}:{self.classifier}" if self.classifier else base


@functools.cache
def _resolve(key: str) -> tuple[Path, ...]:
    lock = tomllib.loads(LOCK_FILE.read_text(encoding="utf-8"))
    if key not in lock["sets"]:
        hint = f"python -m conformance.harness.java.pin_jars {key}"
        raise JarsUnavailableError(f"no pins for {key}; to make them: {hint}")
    wanted = [Coordinate.parse(text) for text in lock["sets"][key]]
    pins: dict[str, str] = lock["sha256"]
    root = jars_directory()
    with (root / "lock").open("wb") as lock_handle:
        fcntl.flock(lock_handle, fcntl.LOCK_EX)
        missing = [jar for jar in wanted if not (root / jar.path).exists()]
        if missing:
            _fetch(missing, pins, root)
    for jar in wanted:
        check_pin(root / jar.path, pins[str(jar)])
    return tuple(root / jar.path for jar in wanted)


def resolve(coordinates: Sequence[str], *, transitive: bool = True) -> list[Path]:
    """
    Return the jars of *coordinates*, and of all they need unless not *transitive*.

    The first use on a machine downloads; later ones only check the pins. Raises
    JarsUnavailableError, also for a cache that cannot be written.
    """
    try:
        return list(_resolve(set_key(coordinates, transitive=transitive)))
    except OSError as error:
        reason = f"the cache of jars cannot be written: {error}"  # may lack a file name
        raise JarsUnavailableError(reason) from error


def set_key(coordinates: Sequence[str], *, transitive: bool) -> str:
    """Return the name of a set of modules in the lock file."""
    return " ".join(sorted(coordinates)) + ("" if transitive else " alone")


def jars_directory() -> Path:
    """Return the folder of the cache that holds jars; it exists afterwards."""
    directory = cache_directory() / "jars"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def check_pin(path: Path, pin: str) -> None:
    """Raise when the bytes of *path* are not the pinned ones."""
    found = file_sha256(path)
    if found != pin:
        raise JarsUnavailableError(
            f"{path} has SHA-256 {found}, pinned is {pin}: delete it and try again"
        )


def _fetch(missing: Sequence[Coordinate], pins: dict[str, str], root: Path) -> None:
    sys.stderr.write(f"fetching {len(missing)} jars into {root} ...\n")
    with tempfile.TemporaryDirectory(dir=root, prefix="fetch-") as temporary:
        folder = Path(temporary)
        run_ivy(folder, _dependencies(missing), poms=False)
        for jar in missing:
            fetched = folder / "jars" / jar.path
            if not fetched.exists():
                raise JarsUnavailableError(f"Ivy did not bring {jar}")
            check_pin(fetched, pins[str(jar)])
            (root / jar.path).parent.mkdir(parents=True, exist_ok=True)
            fetched.replace(root / jar.path)
    sys.stderr.write(f"fetched {len(missing)} jars, all as pinned\n")


def _dependencies(jars: Sequence[Coordinate]) -> list[str]:
    """Return Ivy's words for *jars*, those of one module in one dependency."""
    artifacts: dict[tuple[str, str, str], list[str]] = {}
    for jar in jars:
        classifier = f" m:classifier={quoteattr(jar.classifier)}" * bool(jar.classifier)
        artifacts.setdefault((jar.organisation, jar.module, jar.revision), []).append(
            f"<artifact name={quoteattr(jar.module)} type='jar' ext='jar'{classifier}/>"
        )
    return [
        f"<dependency org={quoteattr(organisation)} name={quoteattr(module)}"
        f" rev={quoteattr(revision)} transitive='false' conf='default'>"
        f"{''.join(wanted)}</dependency>"
        for (organisation, module, revision), wanted in artifacts.items()
    ]
