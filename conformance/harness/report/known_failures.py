"""
Known failures of a target: unmet clauses, each with a reason.

The tests still run. A listed failure does not fail the run. An entry whose clause
passes in all its tests is stale and fails the run. Each has a clause and a reason::

    [[known]]
    clause = "WIRE-FRAME-002"
    reason = "reads one byte of the header length; fixed in 0.9"

Optional are ``target`` and ``release``, patterns such as ``tcp:*`` and ``4.6.*``, and
``link``, the report of the defect. ``step`` names the step of the baseline that failed.
An entry under ``[[flaky]]`` sometimes fails: it is never stale. There should be none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from spec.registry import all_clauses

ANY = "*"
"""Pattern of every target and every release."""
_KEYS = {"clause", "reason", "target", "release", "link", "step"}
_TABLES = ("known", "flaky")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One clause that is known to fail."""

    clause: str
    reason: str
    target: str = ANY
    release: str = ANY
    link: str = ""
    step: str = ""
    """Step of the baseline that failed; the entry is stale when it passes."""
    flaky: bool = False
    """It fails sometimes."""

    def matches(self, *, target: str, release: str) -> bool:
        """Return whether the entry is about *target* as *release*."""
        named = fnmatchcase(target, self.target)
        return named and fnmatchcase(release, self.release)


def load_known(path: Path | None) -> tuple[Known, ...]:
    """Return the entries of the file at *path*; no path, no entries."""
    if path is None:
        return ()
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise pytest.UsageError(f"--known {path}: {error}") from None
    tables = {name: read.pop(name, []) for name in _TABLES}
    if read or not all(isinstance(entries, list) for entries in tables.values()):
        wanted = "[[known]] and [[flaky]] entries"
        raise pytest.UsageError(f"--known {path}: only {wanted} may be there")
    return tuple(
        _entry(entry, f"--known {path}: [[{name}]] entry {number}", name == "flaky")
        for name, entries in tables.items()
        for number, entry in enumerate(entries, start=1)
    )


def _entry(entry: object, place: str, is_flaky: bool) -> Known:
    if not isinstance(entry, dict) or not entry.keys() <= _KEYS:
        raise pytest.UsageError(f"{place} may only have {', '.join(sorted(_KEYS))}")
    for key in ("clause", "reason", *sorted(entry)):
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip():
            raise pytest.UsageError(f"{place} needs a text as {key}{_about(entry)}")
    if entry["clause"] not in all_clauses():
        raise pytest.UsageError(f"{place}: no clause {entry['clause']}")
    return Known(**entry, flaky=is_flaky)


def _about(entry: Mapping[str, object]) -> str:
    clause = entry.get("clause")
    return f" (it is about {clause})" if clause and isinstance(clause, str) else ""


def other_targets(known: Iterable[Known], *, target: str, release: str) -> str:
    """Return the number of entries that do not match, in words; empty for none."""
    listed = list(known)
    others = [one for one in listed if not one.matches(target=target, release=release)]
    if not others:
        return ""
    verb = "is" if len(others) == 1 else "are"
    return (
        f"known failures: {len(others)} of {len(listed)} {verb} about other targets"
        f" or releases, such as target {others[0].target!r}, release"
        f" {others[0].release!r}"
    )


def reason_for(
    known: tuple[Known, ...], clauses: list[str], *, target: str, release: str
) -> str | None:
    """Return why all of *clauses* are known to fail; None if one of them is not."""
    reasons = {
        entry.clause: f"{entry.reason} {entry.link}".strip()
        for entry in known
        if entry.matches(target=target, release=release)
    }
    if not clauses or any(clause not in reasons for clause in clauses):
        return None
    return "; ".join(dict.fromkeys(reasons[clause] for clause in clauses))
