"""
Recorded run of the suites on one implementation: outcomes of clauses, without texts.

Apache's releases have theirs in ``spec/evidence``. A file beside this module holds the
run of any other implementation, taken from its ``report.json``.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages.rendering import short
from conformance.harness.report.report_json import ClauseEntry, Report
from spec.observed import Observed, all_evidence
from spec.registry import all_clauses

FOLDER = Path(__file__).parent
NEED_NO_REASON = (Outcome.PASS, Outcome.NOT_APPLICABLE)
LOCAL_OPTIONS = ("--report", "--jobs", "--write-known")
"""Options about the machine of a run, which a record leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """One run on one implementation of one version."""

    name: str
    """With its version, such as "rocketmq-rust 1.0.0"."""
    profile: str
    """Release whose clauses apply."""
    recorded: str
    """Day of the run, as 2026-11-21."""
    suite_version: str
    command: str
    outcomes: Mapping[str, str]
    """Outcome by clause id."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why, by clause id, where the outcome is not a pass."""

    @classmethod
    def of_report(cls, name: str, report: Report) -> Self:
        """Return the run in *report*, a report.json, on the implementation *name*."""
        results = [one for one in report.results if one.id in all_clauses()]
        return cls(
            name=name,
            profile=report.target.release,
            recorded=report.at[:10],
            suite_version=report.suite_version,
            command=portable(report.command),
            outcomes={one.id: one.outcome.value for one in results},
            reasons={one.id: _reason(one) for one in results if _needs_one(one)},
        )

    @classmethod
    def of_evidence(cls, observed: Observed) -> Self:
        """Return the recorded run on a release of Apache RocketMQ."""
        return cls(
            name=f"Apache {observed.release}",
            profile=observed.release,
            recorded=observed.recorded,
            suite_version=observed.suite_version,
            command=f"rmqc test --target {observed.target}",
            outcomes=observed.outcomes,
            reasons=observed.reasons,
        )

    @property
    def totals(self) -> Counter[str]:
        """Number of clauses by outcome."""
        return Counter(self.outcomes.values())

    @property
    def file_name(self) -> str:
        """Name of its file, from its own name."""
        return re.sub(r"[^a-z0-9.]+", "-", self.name.lower()).strip("-") + ".json"


def implementations(folder: Path = FOLDER) -> Iterator[Implementation]:
    """Yield Apache's releases, the oldest first, then the runs recorded in *folder*."""
    yield from map(Implementation.of_evidence, all_evidence().values())
    for file in sorted(folder.glob("*.json")):
        yield Implementation(**json.loads(file.read_text(encoding="utf-8")))


def keep(one: Implementation, folder: Path = FOLDER) -> Path:
    """Write the run *one* into *folder*, and return its file."""
    file = folder / one.file_name
    text = json.dumps(asdict(one), indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")
    return file


def portable(command: str) -> str:
    """Return a run's command without its options about the machine."""
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        if word in LOCAL_OPTIONS:
            next(words, None)
        elif word.partition("=")[0] not in LOCAL_OPTIONS:
            kept.append(word)
    return shlex.join(kept)


def _needs_one(entry: ClauseEntry) -> bool:
    return entry.outcome not in NEED_NO_REASON


def _reason(entry: ClauseEntry) -> str:
    found = entry.failure.found if entry.failure else ""
    return short(entry.reason or found)
