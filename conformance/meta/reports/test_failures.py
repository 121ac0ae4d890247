"""Texts of failures equal their golden files, so that each change shows in the diff."""

from __future__ import annotations

import pytest

from conformance.harness.failure.failure import format_value
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.meta.reports.goldens import FAILURES, FOLDER, text_of
from spec.wire.remoting.response_code import ResponseCode


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_reads_as_it_did(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert text_of(name) == golden, (
        "python -m conformance.meta.reports.goldens writes it anew"
    )


def test_there_is_no_golden_without_a_failure() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(FAILURES)


def test_a_code_is_shown_with_its_number_and_name() -> None:
    assert format_value(ResponseCode.SYSTEM_ERROR) == "1 SYSTEM_ERROR"
    codes = [(ResponseCode.SYSTEM_ERROR, 7)]
    assert format_value(codes) == "[(1 SYSTEM_ERROR, 7)]"


def test_what_is_right_does_not_fail() -> None:
    expect("WIRE-FRAME-001", found=1, expected=1)
    expect_that("WIRE-FRAME-001", True, found=1, expected="more than 0")
    expect_fields("WIRE-FRAME-001", found={"a": 1, "b": 2}, expected={"a": 1})
