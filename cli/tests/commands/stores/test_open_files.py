"""Commands that start the reference on stores with more queues than open files."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from cli.tests.commands.stores.salvage_command import run
from rocketmq_conformance.paths import module_command

FILES = 40
"""Limit of open files, below the number of queues."""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of 60 queues."""
    store = tmp_path_factory.mktemp("wide") / "store"
    words = ("--messages", "60", "--topics", "10", "--queues", "6")
    code, output = run("generate", store, *words)
    assert code == 0, output
    return store


def limited(limit: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``rmqc`` with *words* below the *limit* of open files, in ulimit's words."""
    command = shlex.join(module_command("cli", *map(str, words)))
    return subprocess.run(
        ["/bin/sh", "-c", f"ulimit {limit} && exec {command}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def words_of(command: str, store: Path, new: Path) -> list[str | Path]:
    """Return the words of *command*, which writes *new*."""
    if command == "salvage":
        return ["salvage", store, "-o", new]
    return ["recover", store, "--release", "4.6", "--copy", new]


@pytest.mark.parametrize("command", ["salvage", "recover"])
def test_a_queue_each_may_be_open_below_the_hard_limit(
    wide: Path, tmp_path: Path, command: str
) -> None:
    new = tmp_path / "new"
    done = limited(f"-Sn {FILES}", *words_of(command, wide, new))
    assert (done.returncode, done.stderr) == (0, "")
    assert "was not recovered" not in done.stdout
    assert len([*new.glob("consumequeue/*/*")]) == 60


@pytest.mark.parametrize("command", ["salvage", "recover"])
def test_too_many_queues_for_the_hard_limit_are_one_line(
    wide: Path, tmp_path: Path, command: str
) -> None:
    new = tmp_path / "new"
    done = limited(f"-n {FILES}", *words_of(command, wide, new))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert "Too many open files" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not new.exists()
