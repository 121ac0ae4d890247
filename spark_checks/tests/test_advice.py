"""
Each kind of finding has advice.
"""

from __future__ import annotations

import re

import pytest

from spark_checks.against.invariants import AGAINST_INVARIANTS
from spark_checks.audit import INVARIANTS
from spark_checks.findings import Finding, Invariant, Severity
from spark_checks.report.advice import ADVICE, OTHERWISE, advice_for, next_steps

ALL = (*INVARIANTS, *AGAINST_INVARIANTS)
ID = re.compile(r"INV-[A-Z]+(-[0-9]{3})?")


@pytest.mark.parametrize("invariant", ALL, ids=lambda one: one.id)
def test_every_finding_has_a_sentence(invariant: Invariant) -> None:
    output = advice_for(invariant.id)
    assert output[0].isupper()
    assert output.endswith(".")
    assert output.count(". ") <= 1


def test_no_advice_is_about_nothing() -> None:
    ids = [invariant.id for invariant in ALL]
    for key in ADVICE:
        assert ID.fullmatch(key)
        assert any(name == key or name.startswith(f"{key}-") for name in ids) or (
            key in ("INV-CONFIG", "INV-OFFSET", "INV-TXN", "INV-DELAY", "INV-RETRY")
        )
    assert advice_for("INV-NEW-001") == OTHERWISE


def finding(invariant: Invariant, severity: Severity) -> Finding:
    """Return a finding of *invariant*."""
    return Finding(
        invariant=invariant,
        severity=severity,
        file="f",
        offset=0,
        length=1,
        expected="x",
        found="y",
        message="It is so.",
    )


def test_steps_are_one_a_kind_and_the_gravest_comes_first() -> None:
    first, second = INVARIANTS[:2]
    found = next_steps(
        [
            finding(second, Severity.WARNING),
            finding(first, Severity.WARNING),
            finding(first, Severity.ERROR),
        ]
    )
    assert [(s["invariant"], s["severity"], s["count"]) for s in found] == [
        (first.id, "error", 2),
        (second.id, "warning", 1),
    ]
