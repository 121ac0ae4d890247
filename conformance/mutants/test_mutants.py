"""Every seeded fault is detected by the tests of its own clauses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.harness.report.outcome import Outcome
from conformance.harness.targets.started.embedded import SOURCES
from conformance.mutants.conftest import LOOKS as LOOKED
from conformance.mutants.matrix import Kill, examine, matrix_lines, run_clauses
from conformance.mutants.mutant import (
    MutantError,
    all_mutants,
    mutant,
    mutated,
    plant,
)
from conformance.mutants.texts import is_as_golden
from spec.registry import all_clauses

MUTANTS = all_mutants()
PATIENCE_S = 1200.0
"""For nearly all of the suite for clients."""
LOOKS = 3


# The longest test by far, so it has to start first. Runs of the suites on the reference
# show the same for the broker.
def test_the_client_itself_is_not_accused(chosen_mutants: list[str]) -> None:
    of_clients = [
        MUTANTS[name]
        for name in chosen_mutants
        if MUTANTS[name].target.startswith("client")
    ]
    assert of_clients
    named = sorted({clause for one in of_clients for clause in one.caught_by})
    run = run_clauses("client:", named, jobs=2, timeout_s=PATIENCE_S)
    fine = {Outcome.PASS, Outcome.UNSUPPORTED}
    wrong = [clause for clause in named if run.outcomes.get(clause) not in fine]
    assert not wrong, f"{' '.join(wrong)} on the client\n{run.output}"


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_still_fits_the_sources(name: str) -> None:
    fault = MUTANTS[name]
    assert mutated(fault, SOURCES) != (SOURCES / fault.file).read_text(encoding="utf-8")
    assert fault.caught_by
    assert set(fault.caught_by) <= set(all_clauses())


def test_a_fault_is_planted_in_what_it_is_of(tmp_path: Path) -> None:
    name = next(one.id for one in MUTANTS.values() if one.target.startswith("client"))
    with pytest.raises(MutantError, match=f"it is the target client-mutant:{name}"):
        plant(f"mutant:{name}", tmp_path / "sources", source=SOURCES)


def looked_at(name: str) -> tuple[Kill, int]:
    """Return the kill of a mutant, and the number of attempts.

    Two threads of a client may run in either order. A test that sometimes misses a
    fault for that reason causes no false failure: it is only weaker. The end of a run
    names such tests.
    """
    for look in range(1, LOOKS + 1):
        kill = examine(mutant(name))
        is_expected = kill.caught and is_as_golden(kill)
        if is_expected or (kill.missed and kill.could_not_be_seen):
            return kill, look
    return kill, LOOKS


def test_the_right_clause_notices(
    chosen_mutant: str, record_property: Callable[[str, object], None]
) -> None:
    kill, looks = looked_at(chosen_mutant)
    record_property(LOOKED, looks)
    if kill.missed and kill.could_not_be_seen:
        pytest.skip(f"{Outcome.UNSUPPORTED}: what it takes is not allowed here")
    assert kill.caught, "\n".join([*matrix_lines([kill]), kill.output])
    again = f"python -m conformance.mutants --write {chosen_mutant} writes it anew"
    assert is_as_golden(kill), again
