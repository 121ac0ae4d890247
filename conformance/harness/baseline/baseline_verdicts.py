"""
Verdicts of the baseline: each defect is a failure of the clause that it names.

A passed step is a pass of its clause only for a known failure of this step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from conformance.harness.baseline.baseline import Defect, load
from conformance.harness.baseline.steps import STEPS
from conformance.harness.report.known_failures import Known, reason_for
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import BASELINE, Verdict
from spec.registry import all_clauses


def baseline_verdicts(
    description: Mapping[str, str], known: tuple[Known, ...], profile: str | None = None
) -> Iterator[Verdict]:
    """Yield the verdict of each defect of the target, the known ones as known.

    The commands of the verdicts have the run's *profile*.
    """
    release = description.get("release", "")
    for defect in load(description.get("baseline", "")):
        if not all_clauses()[defect.clause].applies_to(release):
            continue
        verdict = _verdict_of(defect, description["text"], profile)
        reason = reason_for(
            known, [defect.clause], target=description["text"], release=release
        )
        if reason is None:
            yield verdict
        else:
            yield replace(verdict, outcome=Outcome.KNOWN, reason=reason)


def passed_steps(description: Mapping[str, str]) -> Iterator[Verdict]:
    """Yield a verdict of each step that found no defect."""
    passed = description.get("baseline_passed", "").split("\n")
    for step in STEPS:
        if step.name in passed:
            yield Verdict(
                test=f"{BASELINE}{step.name}",
                clauses=[step.clause],
                outcome=Outcome.PASS,
                duration_s=0.0,
            )


def passes_of_known(
    description: Mapping[str, str], known: tuple[Known, ...]
) -> Iterator[Verdict]:
    """Yield the passes of steps that entries of *known* failures name."""
    for verdict in passed_steps(description):
        step = verdict.test.removeprefix(BASELINE)
        for entry in known:
            if entry.step == step:
                yield replace(verdict, clauses=[entry.clause])


def _verdict_of(defect: Defect, target: str, profile: str | None) -> Verdict:
    options = f"--target '{target}'" + (f" --profile {profile}" if profile else "")
    return Verdict(
        test=f"{BASELINE}{defect.step}",
        clauses=[defect.clause],
        outcome=Outcome.FAIL,
        duration_s=0.0,
        blamed=[defect.clause],
        found=defect.found,
        expected=defect.expected,
        text=defect.text,
        again=f"rmqc test {options} --only {defect.clause} -v",
    )
