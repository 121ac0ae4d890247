"""``rmqc test``: ``--examples``, ``--seed``, ``--explain``, ``--write-known``."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.commands.suites.test import test as command
from cli.options.suites.effort import SEEDED_VARIABLES, effort_words


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
