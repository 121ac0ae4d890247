"""
The disk refuses one write, those of some seconds, or all from one on.

The rest goes on, everything resumes, and nothing acknowledged is lost.
"""

from __future__ import annotations

import os

import pytest

from reference.core.store.mapped.files import FilesError
from reference.tests.broker.disk.faulty_broker import Faulty, assert_resumes, started_on
from reference.tests.broker.disk.faulty_disk import FaultyFiles

PARTS = 8
"""Each test takes the writes with one remainder of this division."""
FOREVER = 1 << 60
SHARE = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 4
"""Every fourth first write of consecutive refused ones is tried, or all."""


def started() -> tuple[Faulty, FaultyFiles]:
    """Return a broker with one message, and its disk, before any fault."""
    disk = FaultyFiles()
    return started_on(disk), disk


def write_count() -> tuple[int, int]:
    """Return the numbers of the first write of the work and of the one behind it."""
    driver, disk = started()
    first = disk.count
    driver.work()
    assert len(driver.acknowledged) == 1 + 12 + 3 + 12
    assert driver.lines == []
    return first, disk.count


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("count", [1, 30, FOREVER], ids=["one", "thirty", "all"])
def test_refused_writes_lose_nothing_and_stop_nothing_else(
    count: int, part: int
) -> None:
    first, end = write_count()
    step = PARTS * (1 if count == 1 else SHARE)
    for number in range(first + part, end, step):
        driver, disk = started()
        disk.first, disk.last = number, number + count - 1
        driver.work()
        assert disk.refused, f"write {number} of {first} to {end}"
        disk.last = -1
        assert_resumes(driver)


def killed() -> tuple[Faulty, FaultyFiles]:
    """Return a broker that was killed after its work, and its disk."""
    driver, disk = started()
    driver.work()
    disk.unlock()
    return driver, disk


def test_a_start_whose_write_is_refused_loses_nothing() -> None:
    _, disk = killed()
    before = disk.count
    Faulty(disk)
    count = disk.count - before
    assert count >= 4
    for number in range(count):
        driver, disk = killed()
        disk.first = disk.last = disk.count + number
        try:
            Faulty(disk)
        except FilesError as error:
            assert "the disk refuses" in str(error)  # noqa: PT017
        assert disk.refused == 1
        disk.unlock()
        found = Faulty(disk).all_bodies()
        assert all(found[body] for body in driver.acknowledged), number
