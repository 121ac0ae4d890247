"""
Calls of the system by which a working broker uses its disk fail, once or for long.

The rest goes on, everything resumes, and nothing acknowledged is lost.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reference.core.store.mapped.files import FilesError
from reference.shell.storage.disk import DiskFiles
from reference.tests.broker.disk.faulty_broker import Faulty, assert_resumes, started_on
from reference.tests.shell.failing_calls import ERRORS, NEVER, SHORT, FailingCalls

FOREVER = 1 << 30
IS_DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
EVERY, EVERY_AT_START = (1, 1) if IS_DEEP else (117, 4)
"""Distances between the calls that are tried."""


def call_count(directory: Path, calls: FailingCalls) -> int:
    """Return the number of calls of the work without a failure."""
    driver = started_on(DiskFiles(directory))
    calls.fail(NEVER, NEVER, SHORT)
    driver.work()
    assert driver.lines == []
    driver.files.unlock()
    return calls.count


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("length", [1, 30, FOREVER], ids=["one", "thirty", "all"])
def test_failing_calls_lose_nothing_and_stop_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, name: str
) -> None:
    calls = FailingCalls(monkeypatch)
    count = call_count(tmp_path / "clean", calls)
    assert count > 200
    begin = (list(ERRORS).index(name) * EVERY) // len(ERRORS)
    for number in range(begin, count, EVERY):
        driver = started_on(DiskFiles(tmp_path / str(number)))
        calls.fail(number, number + length - 1, ERRORS[name])
        driver.work()
        assert calls.failed or name == "short"
        calls.stop()
        assert_resumes(driver)
        errors = [line for line in driver.lines if "works again" not in line]
        assert len(errors) <= len(calls.failed)


@pytest.mark.parametrize("name", ERRORS)
def test_a_start_with_a_failing_call_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls = FailingCalls(monkeypatch)
    files = DiskFiles(tmp_path)
    driver = started_on(files)
    driver.work()
    files.unlock()
    calls.fail(NEVER, NEVER, SHORT)
    Faulty(files)
    files.unlock()
    for number in range(0, calls.count, EVERY_AT_START):
        calls.fail(number, number, ERRORS[name])
        try:
            Faulty(files)
        except FilesError as error:
            assert calls.failed, error  # noqa: PT017
        calls.stop()
        files.unlock()
    found = Faulty(files).all_bodies()
    assert all(found[body] for body in driver.acknowledged)
