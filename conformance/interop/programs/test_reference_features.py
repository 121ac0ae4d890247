"""
The reference's client does at real brokers what Java's does: each of their features.

Everything at the release that it follows and at a newer one, and in short at the
others. At the reference itself ``test_features.py`` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import pytest

from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import target_text
from conformance.interop.programs.cell import OWN, SETTINGS, Cell, expected
from conformance.interop.programs.run import STEPS, run

WHOLE = ("4.6.0", "5.3.3")
OTHERS = ("4.4.0", "4.9.7", "5.4.0")
IN_SHORT = (
    *("sync send", "batch send", "ordered", "transaction", "tag filter"),
    *("rebalance", "retry", "pull"),
)
"""Features for the other releases."""
CASES = [
    *((server, name) for server in WHOLE for name in STEPS),
    *((server, name) for server in OTHERS for name in IN_SHORT),
]

Outcomes = Callable[[str], Mapping[str, object]]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Return a function that runs all features at a server, cached."""

    @cache
    def run_all(server: str) -> Mapping[str, object]:
        names = STEPS if server in WHOLE else IN_SHORT
        cells = [Cell(client=OWN, feature=name, server=server) for name in names]
        with parse_target(target_text(server), conf=SETTINGS) as target:
            done = list(run(cells, target, tmp_path_factory.mktemp("client")))
        return {cell.feature: cell.outcome for cell in done}

    return run_all


@pytest.mark.parametrize(
    ("server", "name"), CASES, ids=lambda one: one.replace(" ", "-")
)
def test_a_feature_works_at_a_real_broker(
    outcomes: Outcomes, server: str, name: str
) -> None:
    assert outcomes(server)[name] == expected(OWN, name)
