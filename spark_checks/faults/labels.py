"""
Label file with the faults of a store, and the score of an audit against it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

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
            "unexpected": [asdict(one) for one in self.unexpected],
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


def write_labels(path: Path, planted: Sequence[Planted], *, seed: int) -> None:
    """Write *planted* into the label file at *path*."""
    document = {
        "schema": SCHEMA,
        "seed": seed,
        "faults": [
            {
                "kind": one.kind,
                **asdict(one.expected),
                "also": [asdict(more) for more in one.also],
            }
            for one in planted
        ],
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def read_labels(path: Path) -> list[Planted]:
    """Return the faults in the label file at *path*, or raise LabelsError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise LabelsError(f"{path} has schema {document['schema']}, not {SCHEMA}")
        return [
            Planted(
                kind=str(one["kind"]),
                expected=_expected(one),
                also=tuple(map(_expected, one["also"])),
            )
            for one in document["faults"]
        ]
    except LabelsError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabelsError(f"{path} is not a label file: {error}") from None


def _expected(one: Mapping[str, Any]) -> Expected:
    """Return the finding in *one*; raises KeyError, TypeError and ValueError."""
    return Expected(
        finding=str(one["finding"]), file=str(one["file"]), offset=int(one["offset"])
    )
