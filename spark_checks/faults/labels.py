"""Label file with the faults of a store, and the score of an audit against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType, json, to_builtins

from spark_checks.faults.fault import Expected, Planted
from spark_checks.findings import Finding

SCHEMA = 1


class LabelsError(ValueError):
    """The label file is not valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Agreement of an audit with the faults of a store."""

    found: tuple[Planted, ...]
    """Faults found at the right file and offset, with the right id."""
    missed: tuple[Planted, ...]
    unexpected: tuple[Expected, ...]
    """Findings that no fault explains."""

    @property
    def is_perfect(self) -> bool:
        """Whether every fault was found, without other findings."""
        return not self.missed and not self.unexpected

    def as_json(self) -> dict[str, object]:
        """Return the score for the audit's JSON output."""
        return {
            "found": [planted.kind for planted in self.found],
            "missed": [planted.kind for planted in self.missed],
            "unexpected": to_builtins(self.unexpected),
        }


def score(planted: Sequence[Planted], findings: Iterable[Finding]) -> Score:
    """Return the score of *findings* against *planted*."""
    reported = {
        Expected(finding=f.invariant.id, file=f.file, offset=f.offset) for f in findings
    }
    explained = {one.expected for one in planted}
    explained |= {more for one in planted for more in one.also}
    unexpected = reported - explained
    return Score(
        found=tuple(one for one in planted if one.expected in reported),
        missed=tuple(one for one in planted if one.expected not in reported),
        unexpected=tuple(
            sorted(unexpected, key=lambda e: (e.file, e.offset, e.finding))
        ),
    )


class _Labels(Struct, frozen=True, kw_only=True):
    """Content of a label file."""

    schema: int
    seed: int = 0
    faults: Sequence[Planted] | UnsetType = UNSET


def write_labels(path: Path, planted: Sequence[Planted], *, seed: int) -> None:
    """Write *planted* into the label file at *path*."""
    data = json.encode(_Labels(schema=SCHEMA, seed=seed, faults=planted))
    path.write_bytes(json.format(data, indent=2) + b"\n")


def read_labels(path: Path) -> Sequence[Planted]:
    """Return the faults in the label file at *path*, or raise LabelsError."""
    try:
        labels = json.decode(path.read_bytes(), type=_Labels)
    except (OSError, ValueError) as error:
        raise LabelsError(f"{path} is not a label file: {error}") from None
    if labels.schema != SCHEMA:
        raise LabelsError(f"{path} has schema {labels.schema}, not {SCHEMA}")
    if labels.faults is UNSET:
        raise LabelsError(f"{path} is not a label file: it has no faults")
    return labels.faults
