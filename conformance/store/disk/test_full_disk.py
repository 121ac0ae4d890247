"""A disk that fills: what goes then, and what is refused."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.pytest_plugin.expectations import expect
from conformance.store.disk.full_disk import LOG_FILES, OLD, Filled
from spec.wire.remoting.response_code import ResponseCode

pytestmark = [
    pytest.mark.patient,
    pytest.mark.needs("store", "wire", "config", "restart"),
]

ALL, YOUNG, LAST = LOG_FILES, LOG_FILES - OLD, 1
AFTER_FULL = 4
"""Number of the step at which the disk is less full again."""
TAKEN, REFUSED = ResponseCode.SUCCESS, ResponseCode.SERVICE_NOT_AVAILABLE


@pytest.mark.clause("STORE-CLEAN-003", "STORE-CLEAN-001", "STORE-CLEAN-002")
def test_old_files_go_at_75_percent_and_young_ones_at_85(filled: Filled) -> None:
    _skip_without_steps(filled)
    found = {step.used: step.log_files for step in filled.steps[:4]}
    expect(
        "STORE-CLEAN-003",
        found=found,
        expected={0.5: ALL, 0.8: YOUNG, 0.88: LAST, 0.93: LAST},
        what="files of the log, of which some were old, by how full the disk was",
    )


@pytest.mark.clause("SEND-STATE-003")
def test_messages_are_refused_while_it_is_90_percent(filled: Filled) -> None:
    _skip_without_steps(filled)
    found = [(step.used, step.code) for step in filled.steps]
    del found[AFTER_FULL]
    expect(
        "SEND-STATE-003",
        found=found,
        expected=[
            (0.5, TAKEN),
            (0.8, TAKEN),
            (0.88, TAKEN),
            (0.93, REFUSED),
            (0.5, TAKEN),
            (0.93, REFUSED),
        ],
        what="how full the disk was, and how a message was answered",
    )


@pytest.mark.clause("SEND-STATE-016")
def test_messages_are_refused_until_it_is_85_percent(filled: Filled) -> None:
    _expect_after_full("SEND-STATE-016", filled, REFUSED)


@pytest.mark.clause("SEND-STATE-017")
def test_messages_are_taken_when_it_is_90_percent(filled: Filled) -> None:
    _expect_after_full("SEND-STATE-017", filled, TAKEN)


@pytest.mark.clause("SEND-STATE-018")
def test_messages_are_refused_until_it_is_85_percent_again(filled: Filled) -> None:
    _expect_after_full("SEND-STATE-018", filled, REFUSED)


def _expect_after_full(clause: str, filled: Filled, code: int) -> None:
    _skip_without_steps(filled)
    step = filled.steps[AFTER_FULL]
    expect(
        clause,
        found=(step.used, step.code),
        expected=(0.88, code),
        what="how full the disk was after it had been full, and how a message was"
        " answered",
    )


@pytest.mark.clause("STORE-CLEAN-016")
def test_a_stop_on_a_full_disk_looks_like_a_crash(filled: Filled) -> None:
    _skip_without_steps(filled)
    expect(
        "STORE-CLEAN-016",
        found=filled.is_abort_left,
        expected=True,
        what="there is a file abort",
    )


def _skip_without_steps(filled: Filled) -> None:
    if filled.unsupported:
        unsupported(filled.unsupported)
