"""Default settings of a broker, as GET_BROKER_CONFIG returns them."""

from __future__ import annotations

import pytest

from conformance.harness.pytest_plugin.expectations import expect_fields
from conformance.harness.targets.target import Target
from spec.store.flushing import DEFAULTS

pytestmark = pytest.mark.needs("wire", "config")


@pytest.mark.clause(
    "STORE-DEFAULT-004",
    "STORE-DEFAULT-005",
    "STORE-DEFAULT-006",
    "STORE-DEFAULT-007",
    "STORE-DEFAULT-008",
    "STORE-DEFAULT-009",
    "STORE-DEFAULT-010",
    "STORE-DEFAULT-011",
)
@pytest.mark.parametrize("clause", DEFAULTS)
def test_settings_have_their_defaults(target: Target, clause: str) -> None:
    with target.connect_to_broker() as broker:
        settings = broker.broker_settings()
    expect_fields(clause, found=settings, expected=DEFAULTS[clause])
