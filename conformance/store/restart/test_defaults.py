"""Default settings of a broker, as GET_BROKER_CONFIG returns them."""

from __future__ import annotations

import pytest

from conformance.harness.pytest_plugin.expectations import expect_fields
from conformance.harness.pytest_plugin.known_settings import need_defaults
from conformance.harness.targets.target import Target
from spec.store.flush import DEFAULTS

pytestmark = pytest.mark.needs("wire")


@pytest.mark.parametrize(
    "clause",
    [
        pytest.param(
            "STORE-DEFAULT-004", marks=pytest.mark.clause("STORE-DEFAULT-004")
        ),
        pytest.param(
            "STORE-DEFAULT-005", marks=pytest.mark.clause("STORE-DEFAULT-005")
        ),
        pytest.param(
            "STORE-DEFAULT-006", marks=pytest.mark.clause("STORE-DEFAULT-006")
        ),
        pytest.param(
            "STORE-DEFAULT-007", marks=pytest.mark.clause("STORE-DEFAULT-007")
        ),
        pytest.param(
            "STORE-DEFAULT-008", marks=pytest.mark.clause("STORE-DEFAULT-008")
        ),
        pytest.param(
            "STORE-DEFAULT-009", marks=pytest.mark.clause("STORE-DEFAULT-009")
        ),
        pytest.param(
            "STORE-DEFAULT-010", marks=pytest.mark.clause("STORE-DEFAULT-010")
        ),
        pytest.param(
            "STORE-DEFAULT-011", marks=pytest.mark.clause("STORE-DEFAULT-011")
        ),
    ],
)
def test_settings_have_their_defaults(target: Target, clause: str) -> None:
    with target.connect_to_broker() as broker:
        settings = broker.broker_settings()
    need_defaults(target, DEFAULTS[clause], settings)
    expect_fields(clause, found=settings, expected=DEFAULTS[clause])
