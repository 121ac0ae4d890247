"""
Real clients do at the reference what they do at a real broker: each of their features.

Every cell of docs/interop.md that the reference has a part in, live. Those of the real
servers are run by ``rmqc report interop``, and compared here as they were recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import REFERENCE, target_text
from conformance.interop.programs.cell import SETTINGS, Cell, all_cells
from conformance.interop.programs.reasons import reason_for
from conformance.interop.programs.run import run

OURS = [cell for cell in all_cells() if cell.server == REFERENCE]
WRONG = {
    "transaction": "mutant:rollback_delivers",
    "pull": "mutant:max_offset_of_last_message",
}
"""References with one fault each, and the feature that shows it."""
CLIENT = "Java 4.6.0"
IN_SHORT = ("batch send", "transaction", "rebalance", "retry", "pull", "query by key")
"""Features of the default run."""

Outcomes = Callable[[str], Mapping[str, Cell]]


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Return a function that runs all features of a client, cached."""

    @cache
    def run_all(client: str) -> Mapping[str, Cell]:
        wanted = [cell for cell in OURS if cell.client == client]
        directory = tmp_path_factory.mktemp("client")
        with parse_target(target_text(REFERENCE), conf=SETTINGS) as target:
            return {cell.name: cell for cell in run(wanted, target, directory)}

    return run_all


@pytest.mark.parametrize("cell", OURS, ids=lambda cell: cell.name.replace(" ", "-"))
def test_a_feature_of_a_client_works(outcomes: Outcomes, cell: Cell) -> None:
    done = outcomes(cell.client)[cell.name]
    assert done.as_expected or reason_for(done), done.outcome


def test_in_short_what_a_client_does(tmp_path: Path) -> None:
    wanted = [cell for cell in OURS if cell.client == CLIENT]
    chosen = [cell for cell in wanted if cell.feature in IN_SHORT]
    with parse_target(target_text(REFERENCE), conf=SETTINGS) as target:
        done = list(run(chosen, target, tmp_path))
    assert [cell.feature for cell in done] == list(IN_SHORT)
    assert {cell.name: cell.outcome for cell in done if not cell.as_expected} == {}


@pytest.mark.parametrize("feature", WRONG)
def test_what_a_wrong_server_does_is_noticed(tmp_path: Path, feature: str) -> None:
    wanted = Cell(client=CLIENT, feature=feature, server=WRONG[feature])
    with parse_target(wanted.server, conf=SETTINGS) as target:
        (done,) = run([wanted], target, tmp_path)
    assert not done.as_expected
    assert reason_for(done) is None
