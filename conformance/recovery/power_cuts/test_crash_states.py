"""
Starting on what a power cut may leave: named states, and a sample of all others.

``CRASH_STATES`` is their number, ``CRASH_SEED`` their seed; ``tox -e crashes`` takes
more than a plain run does.
"""

from __future__ import annotations

import os
import random

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.recovery.power_cuts.crash_oracle import check_start
from conformance.recovery.power_cuts.crash_states import drawn_states, named_states
from conformance.recovery.power_cuts.crashed_broker import MANY, TAG, Crashed
from spec.integers import tags_code

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "kill")]

SEED = int(os.environ.get("CRASH_SEED", "0")) or random.SystemRandom().randrange(2**31)
DRAWN = int(os.environ.get("CRASH_STATES", "3"))
NAMES = [state.description for state in named_states("")]


@pytest.mark.clause(
    "REC-POWERCUT-001", "REC-POWERCUT-002", "REC-POWERCUT-003", "REC-DISPATCH-005"
)
@pytest.mark.clause("REC-CRASH-001", "REC-CRASH-002")
@pytest.mark.clause("REC-DISPATCH-004")
@pytest.mark.parametrize("name", NAMES)
def test_a_named_state_loses_nothing_that_was_flushed(
    crashed: Crashed, name: str
) -> None:
    states = {state.description: state for state in named_states(f"{crashed.many}/0")}
    check_start(crashed, states[name], seed=SEED)


@pytest.mark.clause(
    "REC-POWERCUT-001", "REC-POWERCUT-002", "REC-POWERCUT-003", "REC-DISPATCH-005"
)
@pytest.mark.clause("REC-CRASH-001", "REC-CRASH-002")
@pytest.mark.parametrize("number", range(DRAWN))
def test_a_drawn_state_loses_nothing_that_was_flushed(
    crashed: Crashed, number: int
) -> None:
    state = list(drawn_states(SEED, number + 1))[number]
    check_start(crashed, state, seed=SEED)


@pytest.mark.clause("STORE-QUEUE-004")
def test_units_made_again_from_the_log_have_the_tags_codes_of_their_records(
    crashed: Crashed,
) -> None:
    states = {state.description: state for state in named_states(f"{crashed.many}/0")}
    files = crashed.left(states["no queue has a file"])
    crashed.target.start()
    with crashed.serving() as broker:
        broker.wait_for_max_offset(topic=crashed.many, offset=MANY)
        codes = [unit.tags_code for unit in files.queue(crashed.many, 0).units()]
    wrong = {
        number: code for number, code in enumerate(codes) if code != tags_code(TAG)
    }
    expect(
        "STORE-QUEUE-004", found=wrong, expected={}, what="other tags codes, by offset"
    )
    expect("STORE-QUEUE-004", found=len(codes), expected=MANY, what="units")
