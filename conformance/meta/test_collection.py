"""Order of a run's tests, and the distribution of their files to its workers."""

from __future__ import annotations

import re
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.pytest_plugin.collection.grouping import (
    SHARED,
    SharedBrokers,
    group_of,
)
from conformance.meta.peers.hostile_peer import Habit, HostilePeer
from conformance.store import conftest as store_fixtures

TESTS = """
import pytest

pytestmark = pytest.mark.clause("WIRE-FRAME-001")

@pytest.mark.patient
def test_patient(): ...

@pytest.mark.parametrize("number", range(20))
def test_short(number): ...

@pytest.mark.long
def test_long(): ...
"""
KILLS = """
@pytest.mark.long
@pytest.mark.needs("kill")
def test_kills(): ...
"""
USUAL = ["long", *(f"short[{number}]" for number in range(20)), "patient"]
FIXTURE = (
    "import pytest\n\n@pytest.fixture\n"
    "def shelf(configurable_target):\n    return configurable_target\n"
)
TEST = "def test_it(broker, written: int) -> None:\n    assert written\n"
LONG, NEXT = "long.py", "next.py"
ALONE = "def test_it(broker) -> None:\n    written = 1\n"


def order(directory: Path, *options: str, extra: str = "") -> list[str]:
    """Return the names of the tests in the order in which they run, or would run."""
    folder = directory / "conformance" / "wire"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_made.py").write_text(TESTS + extra, encoding="utf-8")
    run = run_child([folder], f"--rootdir={folder}", *options)
    # A worker names a test when it begins, and again when it ends.
    return list(dict.fromkeys(re.findall(r"::test_(\S+)", run.output)))


def test_long_tests_begin_and_patient_ones_end(tmp_path: Path) -> None:
    assert order(tmp_path, "--collect-only") == USUAL


def test_long_tests_that_the_target_does_not_allow_do_not_begin(tmp_path: Path) -> None:
    with HostilePeer(Habit.ENDS).server as server:
        names = order(tmp_path, f"--target={server.address}", "-n1", "-vv", extra=KILLS)
    assert names == [*USUAL[:-1], "kills", "patient"]


def test_a_number_chooses_the_order(tmp_path: Path) -> None:
    first, again = (order(tmp_path, "--collect-only", "--shuffle=1") for _ in range(2))
    assert first == again != USUAL
    assert sorted(first) == sorted(USUAL)
    assert first[-1] == "patient"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FIXTURE, "configurable_target"),
        (TEST, "written"),
        (ALONE, None),
        ("def :", None),
    ],
)
def test_a_file_says_in_parameters_what_it_asks_for(
    text: str, expected: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert group_of(path) == expected


def test_a_file_that_is_not_there_is_alone(tmp_path: Path) -> None:
    assert group_of(tmp_path / "test_none.py") is None


def test_files_of_the_suite_stay_together() -> None:
    directory = Path(str(store_fixtures.__file__)).parent
    groups = [group_of(path) for path in sorted(directory.rglob("test_*.py"))]
    assert groups.count("written") > 1
    assert set(groups) <= {*SHARED, None}


class Worker:
    """A worker that records the tests that it is given."""

    shutting_down = False

    def __init__(self) -> None:
        self.given: list[int] = []
        self.gateway = SimpleNamespace(id="gw0")

    def send_runtest_some(self, numbers: list[int]) -> None:
        """Record the tests by number."""
        self.given += numbers


def scheduler_of(worker: Any) -> SharedBrokers:
    """Return a scheduler whose only worker has two tests of a file left."""
    scheduler = SharedBrokers.__new__(SharedBrokers)
    scheduler.log = lambda *_: None
    names = [f"{LONG}::a", f"{LONG}::b", f"{NEXT}::c"]
    scheduler.registered_collections = {worker: names}
    scheduler.assigned_work = {worker: {LONG: {names[0]: False, names[1]: False}}}
    scheduler.workqueue = OrderedDict({NEXT: {names[2]: False}})
    return scheduler


def test_a_worker_gets_its_next_file_with_its_last_test() -> None:
    worker = Worker()
    scheduler = scheduler_of(worker)
    scheduler._reschedule(worker)
    assert worker.given == []
    scheduler.assigned_work[worker][LONG][f"{LONG}::a"] = True
    scheduler._reschedule(worker)
    assert worker.given == [2]
