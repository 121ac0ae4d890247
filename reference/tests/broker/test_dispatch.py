"""Request codes in the broker's processor table."""

from __future__ import annotations

import pytest

from reference.core.broker.processor_table import PROCESSORS
from spec.wire.admin.admin_processor import ADMINISTRATION
from spec.wire.remoting.request_code import RequestCode


@pytest.mark.parametrize(
    "code", ADMINISTRATION, ids=lambda code: RequestCode(code).name
)
def test_every_request_of_administrators_is_answered(code: RequestCode) -> None:
    assert code in PROCESSORS


def test_administrators_have_all_requests_of_the_release() -> None:
    assert len(ADMINISTRATION) == 42
