"""Every seeded fault is noticed, and named by the clause that is about it."""

from __future__ import annotations

import pytest

from conformance.harness.embedded import SOURCES
from conformance.harness.outcome import Outcome
from conformance.mutants.matrix import examine, matrix_lines, run_clauses
from conformance.mutants.planting import all_mutants, mutant, spoiled
from conformance.mutants.texts import golden_of, stable_text
from spec.registry import all_clauses

MUTANTS = all_mutants()
PATIENCE_S = 1200.0
"""For nearly half of the suite."""


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_still_fits_the_sources(name: str) -> None:
    fault = MUTANTS[name]
    assert spoiled(fault, SOURCES) != (SOURCES / fault.file).read_text(encoding="utf-8")
    assert fault.caught_by
    assert set(fault.caught_by) <= set(all_clauses())


@pytest.mark.parametrize("name", MUTANTS)
def test_the_right_clause_notices(name: str) -> None:
    kill = examine(mutant(name))
    if kill.missed and kill.could_not_be_seen:
        pytest.skip(f"{Outcome.UNSUPPORTED}: what it takes is not allowed here")
    assert kill.caught, "\n".join([*matrix_lines([kill]), kill.output])
    again = f"python -m conformance.mutants --write {name} writes it anew"
    assert golden_of(kill) == stable_text(kill), again


def test_the_reference_itself_is_not_accused() -> None:
    named = sorted({clause for one in MUTANTS.values() for clause in one.caught_by})
    run = run_clauses("embedded:", named, jobs=2, timeout_s=PATIENCE_S)
    fine = {Outcome.PASS, Outcome.UNSUPPORTED}
    wrong = [clause for clause in named if run.outcomes.get(clause) not in fine]
    assert not wrong, f"{' '.join(wrong)} on the reference\n{run.output}"
