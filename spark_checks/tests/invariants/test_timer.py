"""
The timer's files of real brokers are silent, and wrong values in them are found.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from spark_checks.findings import Finding, Severity
from spark_checks.invariants.timer.check_timer import check_timer
from spark_checks.store_files import list_store
from spark_checks.tests.fields.checked_faults import check_faults
from spark_checks.tests.fields.field_faults import FaultSites
from spark_checks.tests.fields.field_places import STRUCTURES, field_names
from spark_checks.tests.recorded_parts import PARTS, store_of
from spec.store.timer.timer_log import TIMER_LOG
from spec.store.timer.timer_wheel import (
    SLOT_COUNT,
    SLOT_SIZE,
    TIMER_CHECKPOINT,
    TIMER_WHEEL,
    WHEEL_SIZE,
)

LOG_FILE_SIZE = 400
"""Bytes of a recorded timer log's files, whose zeros at the end are not recorded."""
NUMBER_SIZE = 4
"""Bytes of a slot's number before each recorded slot."""
LAST_DUE_S = 1_795_276_643
"""Due time of the last unit of the recorded timer log of 5.3.3, at position 556."""
OF_TIMER = ("timer_unit", "timer_blank", "timer_slot", "timer_checkpoint")


def timed_store(release: str, tmp_path: Path) -> Path:
    """Return a recorded store with the files of its timer at their full sizes."""
    store_of(release, tmp_path, has_timer=True)
    (tmp_path / TIMER_LOG).mkdir()
    for file in (PARTS / release / TIMER_LOG).iterdir():
        data = file.read_bytes().ljust(LOG_FILE_SIZE, b"\0")
        (tmp_path / TIMER_LOG / file.name).write_bytes(data)
    slots = (PARTS / release / "timerwheel.slots").read_bytes()
    with (tmp_path / TIMER_WHEEL).open("wb") as wheel:
        wheel.truncate(WHEEL_SIZE)
        for at in range(0, len(slots), NUMBER_SIZE + SLOT_SIZE):
            begin = at + NUMBER_SIZE
            wheel.seek(int.from_bytes(slots[at:begin]) * SLOT_SIZE)
            wheel.write(slots[begin : begin + SLOT_SIZE])
    return tmp_path


def findings_of(root: Path) -> Sequence[Finding]:
    """Return the findings in the timer's files."""
    return list(check_timer(list_store(str(root))))


@pytest.mark.parametrize("release", ["5.3.3", "5.4.0"])
def test_the_timers_files_of_a_broker_are_silent(release: str, tmp_path: Path) -> None:
    assert findings_of(timed_store(release, tmp_path)) == []


@pytest.mark.slow
def test_wrong_values_in_the_timers_files_are_found(tmp_path: Path) -> None:
    root = timed_store("5.3.3", tmp_path)
    faults = list(FaultSites(root).faults(OF_TIMER))
    assert {(fault.structure, fault.field) for fault in faults} == {
        (name, field) for name in OF_TIMER for field in field_names(STRUCTURES[name])
    }
    check_faults(root, faults, findings_of)


@pytest.mark.parametrize(
    ("flushed", "expected"), [(556, set()), (608, {"INV-TIMER-003"})]
)
def test_the_wheel_may_lack_units_that_are_not_flushed(
    flushed: int, expected: set[str], tmp_path: Path
) -> None:
    """A stop does not flush the wheel, and a start adds them to it."""
    root = timed_store("5.3.3", tmp_path)
    with (root / "config" / TIMER_CHECKPOINT).open("r+b") as progress:
        progress.seek(8)
        progress.write(flushed.to_bytes(8))
    with (root / TIMER_WHEEL).open("r+b") as wheel:
        wheel.seek(LAST_DUE_S % SLOT_COUNT * SLOT_SIZE)
        wheel.write(bytes(SLOT_SIZE))
    assert {one.invariant.id for one in findings_of(root)} == expected


def _shorten(root: Path) -> None:
    (last,) = sorted((root / TIMER_LOG).iterdir())[1:]
    last.write_bytes(bytes(LOG_FILE_SIZE))


def _without_log(root: Path) -> None:
    shutil.rmtree(root / TIMER_LOG)


def _without_wheel(root: Path) -> None:
    (root / TIMER_WHEEL).write_bytes(bytes(WHEEL_SIZE))


def _wheel_directory(root: Path) -> None:
    (root / TIMER_WHEEL).unlink()
    (root / TIMER_WHEEL).mkdir()


def _short_wheel(root: Path) -> None:
    (root / TIMER_WHEEL).write_bytes(b"short")


def _long_last_file(root: Path) -> None:
    last = max((root / TIMER_LOG).iterdir())
    last.write_bytes(last.read_bytes() + b"\0")


def _empty_last_file(root: Path) -> None:
    (root / TIMER_LOG / f"{LOG_FILE_SIZE * 2:020}").touch()


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        (_wheel_directory, "a directory in its place"),
        (_short_wheel, "5 bytes"),
        (_long_last_file, "401 bytes"),
        (_empty_last_file, None),
    ],
)
def test_a_size_with_which_no_broker_starts_is_found(
    tmp_path: Path, harm: Callable[[Path], None], found: str | None
) -> None:
    root = timed_store("5.3.3", tmp_path)
    harm(root)
    sizes = [one for one in findings_of(root) if one.invariant.id == "INV-TIMER-006"]
    assert [one.found for one in sizes] == ([found] if found else [])
    assert all(one.severity is Severity.ERROR for one in sizes)


def test_a_configured_size_of_the_timer_log_overrules_its_files(tmp_path: Path) -> None:
    store = list_store(str(timed_store("5.3.3", tmp_path)))
    found = check_timer(store, LOG_FILE_SIZE * 2)
    assert {one.file for one in found if one.invariant.id == "INV-TIMER-006"} == {
        file.path for file in store.under(TIMER_LOG)
    }


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (_shorten, {"INV-TIMER-003", "INV-TIMER-005"}),
        (_without_log, {"INV-TIMER-005"}),
        (_without_wheel, set()),
    ],
)
def test_lost_parts_are_found(
    tmp_path: Path, harm: Callable[[Path], None], expected: set[str]
) -> None:
    root = timed_store("5.4.0", tmp_path)
    harm(root)
    assert {one.invariant.id for one in findings_of(root)} == expected
