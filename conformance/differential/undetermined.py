"""
Facts in which two correct targets may differ, with the reasons.

The path of a fact is the kind of the step, then the path in the response:
``pull.records.0.stored_at_ms``. The presence of such a fact is still compared, but not
its value; a remark is left out. The first matching pattern decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Undetermined:
    """Facts whose values no clause fixes."""

    paths: tuple[str, ...]
    reason: str


UNDETERMINED = (
    Undetermined(
        paths=("*.remark",),
        reason="a remark is prose for people; no clause states its words or presence",
    ),
    Undetermined(
        paths=(
            "*.stored_at_ms",
            "earliest store time.fields.timestamp",
            "*.lastUpdateTimestamp",
            "*.lastTimestamp",
            "*.indexLastUpdateTimestamp",
        ),
        reason="each target has a clock of its own",
    ),
    Undetermined(
        paths=("*.indexLastUpdatePhyoffset",),
        reason="it is the newest record of all topics, other programs' too",
    ),
    Undetermined(
        paths=("send delayed.fields.queueOffset", "send half.fields.queueOffset"),
        reason="it counts in a queue that all topics of the broker share",
    ),
    Undetermined(
        paths=("*.dataVersion", "*.dataVersion.*"),
        reason="it counts the changes that every program made",
    ),
    Undetermined(
        paths=("*.consumeTps",),
        reason="a rate depends on when it is sampled",
    ),
    Undetermined(
        paths=("*.version",),
        reason="it is the sender's release, which differs",
    ),
)


@cache
def reason_for(path: str) -> str | None:
    """Return why the value at *path* is not compared; None where it is."""
    for one in UNDETERMINED:
        if any(fnmatchcase(path, pattern) for pattern in one.paths):
            return one.reason
    return None
