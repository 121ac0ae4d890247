"""Verdicts of the baseline: each defect is a failure of the clause that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from conformance.harness.baseline.baseline import Defect, load
from conformance.harness.report.known_failures import Known, reason_for
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import BASELINE, Verdict
from spec.registry import all_clauses


def baseline_verdicts(
    description: Mapping[str, str], known: tuple[Known, ...]
) -> Iterator[Verdict]:
    """Yield the verdict of each defect of the target, the known ones as known."""
    release = description.get("release", "")
    for defect in load(description.get("baseline", "")):
        if not all_clauses()[defect.clause].applies_to(release):
            continue
        verdict = _verdict_of(defect, description["text"])
        reason = reason_for(
            known, [defect.clause], target=description["text"], release=release
        )
        if reason is None:
            yield verdict
        else:
            yield replace(verdict, outcome=Outcome.KNOWN, reason=reason)


def _verdict_of(defect: Defect, target: str) -> Verdict:
    return Verdict(
        test=f"{BASELINE}{defect.step}",
        clauses=[defect.clause],
        outcome=Outcome.FAIL,
        duration_s=0.0,
        blamed=[defect.clause],
        found=defect.found,
        expected=defect.expected,
        text=defect.text,
        again=f"rmqc test --target '{target}' --only {defect.clause}",
    )
