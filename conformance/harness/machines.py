"""
Running a stateful machine: rules in any order, against a target and a model of it.

A machine tries some histories, the same on every run. ``--examples N`` tries so many
others; a failure then names the seed with which the same are tried again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, seed, settings
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
    factory, note = make, ""
    if wanted or not chosen.derandomize:
        number = _seed_of(config)
        factory = seed(number)(lambda: make())
        chosen = settings(chosen, derandomize=False, database=None)
        note = (
            f"  seed      --examples {chosen.max_examples} --hypothesis-seed {number}"
        )
    try:
        run_state_machine_as_test(factory, settings=chosen)  # type: ignore[arg-type] # a factory will do
    except BaseException as error:
        if note:
            error.add_note(note)
        raise


def _seed_of(config: pytest.Config) -> int:
    """Return the seed that was asked for, or a new one."""
    asked = config.getoption("--hypothesis-seed", None)
    return int(asked) if asked is not None else secrets.randbits(32)
