"""``rmqc evidence study``: its steps, what ends it, and the list of releases."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.commands.suites import evidence
from cli.runs.suites import release_study
from cli.runs.suites.release_study import NAMES, Step, add_release
from conformance.harness.releases import PINNED, RELEASES_FILE
from conformance.harness.report.evidence.request_coverage import requests_without_entry


def run(*words: str) -> Result:
    return CliRunner().invoke(evidence.evidence, ["study", *words])


def test_each_step_is_listed_with_its_command() -> None:
    result = run("5.9.9", "--list")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert "evidence  rmqc evidence record --release 5.9.9" in lines
    assert "headers   python -m fixtures.record.headers 5.9.9" in lines


@pytest.mark.parametrize("word", ["5.9", "newest", "5.9.9-rc1"])
def test_a_word_that_is_no_release_is_one_line(word: str) -> None:
    result = run(word)
    assert result.exit_code == 2
    assert f"{word!r} is not a release such as 5.6.0" in result.output


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the steps that ran; "stores" fails, "changes" finds."""
    names: list[str] = []

    def run_step(step: Step) -> int:
        names.append(step.name)
        return {"stores": 1, "changes": 1}.get(step.name, 0)

    monkeypatch.setattr(release_study, "_run", run_step)
    monkeypatch.setattr(release_study, "add_release", names.append)
    return names


def test_findings_are_for_the_author_and_a_failure_ends_it(ended: list[str]) -> None:
    result = run("5.9.9")
    assert result.exit_code == 3
    assert "step stores ended with exit code 1" in result.output
    expected = ["jars", "5.9.9", "headers", "changes", "evidence", "ranges", "stores"]
    assert ended == expected


def test_a_study_goes_on_and_says_what_is_left(
    ended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "requests_without_entry", lambda _release: ["NEW"])
    result = run("5.9.9", "--from", "handover")
    assert ended == ["handover", "pages"]
    assert result.exit_code == 1
    assert "NEW has neither clauses nor a reason" in result.output


def test_a_release_is_added_once_and_in_order(tmp_path: Path) -> None:
    file = tmp_path / "releases.toml"
    file.write_text(RELEASES_FILE.read_text(encoding="utf-8"), encoding="utf-8")
    before = tomllib.loads(file.read_text(encoding="utf-8"))
    for _ in range(2):
        add_release("5.0.10", file)
    after = tomllib.loads(file.read_text(encoding="utf-8"))
    for name, releases in before.items():
        older = [one for one in releases if one.startswith("4")]
        assert after[name] == [*older, "5.0.10", *releases[len(older) :]]


def test_requests_of_studied_releases_have_entries() -> None:
    assert requests_without_entry(PINNED[-1]) == []
