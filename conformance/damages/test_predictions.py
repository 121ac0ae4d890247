"""
Predictions of ``rmqc recover --dry-run`` equal the outcome at a real broker.

A store of a broker is damaged in many ways. The outcomes at a real broker of the
release are recorded, so that nothing is started here. With RMQC_PREDICTIONS=live in the
environment (``tox -e predictions``) the brokers start again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.damages.command_process import Command, running_command
from conformance.damages.damages import DAMAGES
from conformance.damages.predictions import differences, predict
from conformance.damages.recorded_stores import (
    damaged_copy,
    observe,
    recorded_outcomes,
    recorded_releases,
    tree_of,
)

LIVE = os.environ.get("RMQC_PREDICTIONS") == "live"
CASES = [
    pytest.param(release, name, id=f"{release}-{name}")
    for release in recorded_releases()
    for name in recorded_outcomes(release)
]


@pytest.fixture(scope="module")
def rmqc() -> Iterator[Command]:
    """Return the command, which answers all tests of this file."""
    with running_command() as command:
        yield command


@pytest.mark.parametrize(("release", "name"), CASES)
def test_a_start_does_what_was_predicted(
    rmqc: Command, tmp_path: Path, release: str, name: str
) -> None:
    damage = DAMAGES[name]
    store = damaged_copy(release, damage, tmp_path)
    before = tree_of(store)
    predicted = predict(rmqc, release, store)
    assert tree_of(store) == before, "a dry run changed the store"
    found = recorded_outcomes(release)[name]
    if LIVE:
        found = observe(release, damage, tmp_path / "live")
    different = differences(predicted, found, unsettled=damage.unsettled)
    assert not different, "\n".join([damage.description, *different])
