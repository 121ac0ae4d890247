"""Remarks of a peer with control characters: a defect of the baseline quotes them."""

from __future__ import annotations

import pytest

from conformance.harness.baseline.baseline import _total
from conformance.harness.baseline.steps import STEPS


@pytest.mark.parametrize("remark", ["a\x1b[31mb", "\x1b]0;title\x07", "a\x1b\nb"])
def test_a_remark_cannot_write_to_the_terminal(remark: str) -> None:
    defect = _total(STEPS[0], f"refused with code 1: {remark}", "0 SUCCESS")
    assert defect.found.startswith("'refused with code 1: ")
    assert "\x1b" not in defect.found + defect.text


def test_a_plain_remark_is_not_quoted() -> None:
    defect = _total(STEPS[0], "refused with code 1: no\nmore", "0 SUCCESS")
    assert defect.found == "refused with code 1: no"
