"""Children of a nursery are started, awaited and ended like any other."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from conformance.harness.nursery import IS_POSSIBLE, Nursery, NurseryError
from conformance.harness.process import Child

PROGRAM = """
import os, pathlib, sys, time

def main(arguments):
    print("began with", *arguments, flush=True)
    if arguments == ["wait"]:
        time.sleep(600)
    if arguments == ["leave"]:
        sys.exit(5)
    if arguments == ["break"]:
        raise ValueError("of no use")
    print(os.environ.get("NURSERY_TEST"), pathlib.Path.cwd())
    return 3
"""
pytestmark = pytest.mark.skipif(not IS_POSSIBLE, reason="needs Linux")


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    """Yield the nursery of a small program."""
    (tmp_path / "program.py").write_text(PROGRAM)
    with closing(Nursery("program", directory=tmp_path)) as one:
        yield one


def child(nursery: Nursery, log: Path, *words: str) -> Child:
    """Return a new child with these arguments."""
    process = nursery.fork(words, log=log)
    return Child(name="program", process=process, log=log, command=words)


def test_a_child_has_its_arguments_its_log_and_our_environment(
    nursery: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NURSERY_TEST", "seen")
    one = child(nursery, tmp_path / "log", "a", "b")
    assert one.wait_end(deadline_s=60) == 3
    assert one.output() == f"began with a b\nseen {tmp_path}\n"


@pytest.mark.parametrize(("word", "code"), [("leave", 5), ("break", 1)])
def test_a_child_ends_with_its_own_code(
    nursery: Nursery, tmp_path: Path, word: str, code: int
) -> None:
    one = child(nursery, tmp_path / "log", word)
    assert one.wait_end(deadline_s=60) == code
    assert ("ValueError: of no use" in one.output()) == (word == "break")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_a_child_and_no_other(
    nursery: Nursery, tmp_path: Path, how: signal.Signals
) -> None:
    first, second = (
        child(nursery, tmp_path / name, "wait") for name in ("first", "second")
    )
    for one in (first, second):
        one.wait_for_line("began with wait")
    assert first.terminate(number=how) == -how
    assert second.running
    assert second.kill() == -signal.SIGKILL


def test_children_end_with_their_nursery(nursery: Nursery, tmp_path: Path) -> None:
    one = child(nursery, tmp_path / "log", "wait")
    with pytest.raises(subprocess.TimeoutExpired):
        one.process.wait(0)
    nursery.close()
    assert one.process.wait(60) == -signal.SIGKILL


def test_a_program_that_cannot_be_imported_has_no_children(tmp_path: Path) -> None:
    with (
        closing(Nursery("absent", directory=tmp_path)) as one,
        pytest.raises(NurseryError),
    ):
        one.fork([], log=tmp_path / "log")
