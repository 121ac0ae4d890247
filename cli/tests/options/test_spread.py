"""``rmqc test``: ``--jobs`` and ``--order``."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.commands.suites import test as command_module
from cli.commands.suites.test import test as command
from cli.main import main
from cli.runs.suites import target_runs
from cli.runs.suites.workers import (
    BY_FILE,
    CLIENT_JOBS,
    MOST_JOBS,
    SEEDED_VARIABLES,
    effort_words,
    jobs_of,
    seed_of,
    spread_words,
)


@pytest.mark.parametrize(
    ("name", "cores", "jobs"),
    [
        ("embedded:", 1, 6),
        ("embedded:", 2, 12),
        ("127.0.0.1:9876", 2, 8),
        ("jvm:4.6.0", 2, 8),
        ("jvm:5.3.3", 2, 4),
        ("docker:apache/rocketmq", 2, 4),
    ],
)
def test_workers_are_more_than_cores(
    monkeypatch: pytest.MonkeyPatch, name: str, cores: int, jobs: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert jobs_of(None, [name], []) == jobs
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert jobs_of(None, [name], []) == MOST_JOBS


@pytest.mark.parametrize(
    ("test_count", "jobs"), [(0, 0), (63, 0), (80, 2), (195, 4), (1000, 12)]
)
def test_workers_are_fewer_for_few_tests(
    monkeypatch: pytest.MonkeyPatch, test_count: int, jobs: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert jobs_of(None, ["embedded:"], [], test_count) == jobs
    assert jobs_of(None, ["client:x"], [], test_count) == min(jobs, CLIENT_JOBS)
    assert jobs_of(5, ["embedded:"], [], test_count) == 5
    assert jobs_of(None, ["embedded:"], ["a.py::test_a"], test_count) == 0


@pytest.mark.parametrize(
    ("words", "jobs"),
    [
        (["--suite", "wire"], "0"),
        (["--suite", "messaging"], "11"),
        (["-k", "messaging and pull_order"], "0"),
        (["--only", "WIRE-FRAME-*"], "0"),
        (["--suite", "wire", "--jobs", "3"], "3"),
    ],
)
def test_the_selection_decides_the_workers_of_a_run(
    monkeypatch: pytest.MonkeyPatch, words: list[str], jobs: str
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    given: list[list[str]] = []

    def run(_name: str, pytest_words: list[str], _reports: list[str]) -> int:
        given.append(pytest_words)
        return 0

    monkeypatch.setattr(target_runs, "run_pytest", run)
    ended = CliRunner().invoke(main, ["test", *words])
    assert ended.exit_code == 0, ended.output
    assert given[0][given[0].index("-n") + 1] == jobs


@pytest.mark.parametrize(
    ("target", "suite"),
    [
        ("client:python a.py", "client"),
        ("client-mutant:x", "client"),
        ("wrong-client:x COMMAND", "client"),
        ("jvm:4.6.0", "wire,store,routing,messaging,security,tls,recovery"),
    ],
)
def test_clients_and_brokers_have_suites_of_their_own(target: str, suite: str) -> None:
    assert command_module.suites_of((target,)) == suite


def test_a_random_order_tells_the_number_that_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    drawn = seed_of("random", None)
    assert f"--seed {drawn} " in capsys.readouterr().out
    assert seed_of("random", 7) == 7
    assert seed_of("usual", None) is None
    assert f"--shuffle={drawn}" in spread_words("random", drawn, 2)


def test_files_stay_together_in_the_usual_order() -> None:
    assert spread_words("usual", 7, 2) == ["-n", "2", *BY_FILE]
    assert spread_words("usual", None, 0) == ["-n", "0"]


def test_quick_is_what_pytest_does_anyway() -> None:
    assert effort_words("quick", None) == []


def test_deep_and_a_number_are_handed_on() -> None:
    assert effort_words("deep", None) == ["--hypothesis-profile=deep"]
    assert effort_words("300", None) == ["--examples=300"]


def test_a_seed_chooses_what_quick_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SEEDED_VARIABLES:
        monkeypatch.setenv(name, "")
    words = effort_words("quick", 7)
    assert words == ["--hypothesis-seed=7", "--hypothesis-profile=seeded"]
    assert {os.environ[name] for name in SEEDED_VARIABLES} == {"7"}
    assert "--hypothesis-profile=deep" in effort_words("deep", 7)


@pytest.mark.parametrize("word", ["often", "0", "-1"])
def test_another_effort_is_refused(word: str) -> None:
    with pytest.raises(click.UsageError, match="quick, deep or a number above 0"):
        effort_words(word, None)


def test_a_clause_is_explained_with_its_tests() -> None:
    ended = CliRunner().invoke(command, ["--explain", "wire-frame-002"])
    assert ended.exit_code == 0
    assert "The low 24 bits" in ended.output
    assert "conformance/wire/test_" in ended.output
    assert CliRunner().invoke(command, ["--explain", "NO-1"]).exit_code == 2


def test_known_failures_are_written_of_one_target(tmp_path: Path) -> None:
    words = [f"--write-known={tmp_path / 'k'}", "--target=embedded:", "--target=a:1"]
    ended = CliRunner().invoke(command, words)
    assert ended.exit_code == 2
    assert "of one target at a time" in ended.output
