"""Default settings of a broker, as GET_BROKER_CONFIG returns them."""

from __future__ import annotations

import pytest

from conformance.harness.pytest_plugin.expectations import expect_fields
from conformance.harness.pytest_plugin.known_settings import need_defaults
from conformance.harness.targets.target import Target
from spec.store.flushing import DEFAULTS

pytestmark = pytest.mark.needs("wire")


@pytest.mark.parametrize(
    "clause", [pytest.param(one, marks=pytest.mark.clause(one)) for one in DEFAULTS]
)
def test_settings_have_their_defaults(target: Target, clause: str) -> None:
    with target.connect_to_broker() as broker:
        settings = broker.broker_settings()
    need_defaults(target, DEFAULTS[clause], settings)
    expect_fields(clause, found=settings, expected=DEFAULTS[clause])
