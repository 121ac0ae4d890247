"""Texts of failures equal their golden files, so that each change shows in the diff."""

from __future__ import annotations

import pytest

from conformance.harness.failure.failure import (
    ConformanceFailure,
    Finding,
    format_value,
)
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


def test_a_found_code_has_a_name_as_the_expected_one() -> None:
    found = Finding(found=16, expected=ResponseCode.SUCCESS, what="code")
    assert found.found_text == "code: 16 NO_PERMISSION"
    unknown = Finding(found=4711, expected=ResponseCode.SUCCESS, what="code")
    assert unknown.found_text == "code: 4711"


def test_values_that_differ_in_their_type_alone_look_different() -> None:
    finding = Finding(found="178", expected=178, what="opaque")
    assert (finding.found_text, finding.expected_text) == (
        "opaque: '178'",
        "opaque: 178",
    )


def test_characters_that_cannot_be_seen_are_escaped() -> None:
    assert format_value("a\x02") == r"'a\x02'"
    assert format_value("two\nlines") == "two\nlines"


def test_what_is_right_does_not_fail() -> None:
    expect("WIRE-FRAME-001", found=1, expected=1)
    expect_that("WIRE-FRAME-001", True, found=1, expected="more than 0")
    expect_fields("WIRE-FRAME-001", found={"a": 1, "b": 2}, expected={"a": 1})


@pytest.mark.parametrize(
    ("clause", "found", "expected", "hint"),
    [
        ("WIRE-FRAME-002", 72, 328, "was one byte read of the three?"),
        ("WIRE-FRAME-002", 2, 328, ""),
        ("WIRE-FRAME-002", "the peer closed", "a valid response", ""),
        ("WIRE-FRAME-001", 104, 100, "the size word does not count itself"),
        ("WIRE-FRAME-001", 0x64000000, 100, "was it written little-endian?"),
        ("STORE-CRC-001", "0xe8b7be43", "0x68b7be43", "was CRC-32 stored without"),
        ("INDEX-ITEM-003", 5_000, 5, "were milliseconds written?"),
        ("STORE-RECORD-008", 255, 127, ""),
    ],
)
def test_a_failure_has_only_hints_that_its_values_show(
    clause: str, found: object, expected: object, hint: str
) -> None:
    with pytest.raises(ConformanceFailure) as failed:
        expect(clause, found=found, expected=expected)
    hints = [line for line in str(failed.value).splitlines() if "  hint  " in line]
    assert len(hints) == bool(hint)
    assert hint in "".join(hints)
