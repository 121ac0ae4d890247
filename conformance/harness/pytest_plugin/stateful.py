"""
Running a stateful machine: rules in any order, against a target and a model of it.

A machine tries some histories, the same on every run. ``--examples N`` tries so many
others; a failure then names the seed with which the same are tried again.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

SLOW_ON_PURPOSE = [HealthCheck.too_slow]
"""A history is a conversation with a broker, and takes as long as that takes."""


def run_machine(
    config: pytest.Config,
    make: Callable[[], RuleBasedStateMachine],
    *,
    examples: int,
    steps: int,
) -> None:
    """Run the machines that *make* returns: *examples* histories of so many *steps*.

    The option ``--examples`` overrides the first number.
    """
    wanted = config.getoption("examples", None)
    chosen = settings(
        max_examples=wanted or examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=SLOW_ON_PURPOSE,
    )
    watched, note = _Watched(make), ""
    factory = watched.machine
    if wanted or not chosen.derandomize:
        number = _seed_of(config)
        factory = seed(number)(lambda: watched.machine())
        chosen = settings(chosen, derandomize=False, database=None)
        tries = chosen.max_examples
        note = f"  seed      --examples {tries} --hypothesis-seed {number}"
    try:
        run_state_machine_as_test(factory, settings=chosen)  # type: ignore[arg-type] # a factory will do
    except BaseException as error:
        found = watched.failure if isinstance(error, Flaky) else None
        failure = found or error
        if found is not None:
            found.add_note("  The same was tried again, and went otherwise.")
        if note:
            failure.add_note(note)
        raise failure from None


class _Watched:
    """Factory of machines that keeps the first failure of any of them.

    A peer may behave differently on repetition, and Hypothesis then reports only that.
    """

    def __init__(self, make: Callable[[], RuleBasedStateMachine]) -> None:
        self._make = make
        self.failure: AssertionError | None = None

    def machine(self) -> RuleBasedStateMachine:
        """Return a new machine."""
        machine = self._make()
        end = machine.teardown

        def teardown() -> None:
            self._note(sys.exception())  # the exception of a rule
            try:
                end()
            except AssertionError as error:
                self._note(error)
                raise

        machine.teardown = teardown  # type: ignore[method-assign] # of this one only
        return machine

    def _note(self, error: BaseException | None) -> None:
        if self.failure is None and isinstance(error, AssertionError):
            self.failure = error


def _seed_of(config: pytest.Config) -> int:
    """Return the requested seed, or a new one."""
    requested = config.getoption("--hypothesis-seed", None)
    return int(requested) if requested is not None else secrets.randbits(32)
