"""Lists and pages of ``rmqc spec``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.commands.suites.spec import spec
from cli.runs.suites.clause_tests import clause_tests
from spec.registry import all_clauses

MEMBERS = {"id", "level", "since", "until", "text", "source", "issues", "tests"}


def run(*arguments: str) -> Result:
    """Return the result of the command; an exception fails the test."""
    return CliRunner().invoke(spec, list(arguments), catch_exceptions=False)


def test_every_clause_is_listed() -> None:
    result = run("list")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) == len(all_clauses())


def test_a_list_can_be_narrowed_to_a_family_and_a_release() -> None:
    listed = run("list", "index-header-*", "--release", "4.6.0").output
    assert "INDEX-HEADER-005" in listed
    assert "INDEX-HEADER-006" not in listed


def test_a_clause_is_shown_with_its_source() -> None:
    result = run("show", "wire-frame-002")
    assert result.exit_code == 0
    assert "RemotingCommand#getHeaderLength" in result.output


def test_several_clauses_are_shown_by_list_and_pattern() -> None:
    output = run("show", "index-key-001,WIRE-FRAME-00*").output
    shown = [
        line for line in output.splitlines() if line.endswith((" (MUST)", " (QUIRK)"))
    ]
    assert shown[:2] == ["INDEX-KEY-001 (MUST)", "WIRE-FRAME-001 (MUST)"]
    assert len(shown) > 5


def test_clauses_may_be_arguments_of_their_own() -> None:
    one_list = run("show", "INDEX-KEY-001,WIRE-FRAME-002")
    two = run("show", "INDEX-KEY-001", "WIRE-FRAME-002")
    assert (two.exit_code, two.output) == (0, one_list.output)
    listed = run("list", "WIRE-FRAME-*", "STORE-CRC-*").output
    assert listed == run("list", "WIRE-FRAME-*,STORE-CRC-*").output


def test_a_shown_clause_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("show", "STORE-*").output.splitlines()
    # The name of a test may be wider; such a line is one word.
    words = [one.removeprefix("tests ").strip() for one in lines if len(one) > 60]
    assert [one for one in words if " " in one] == []
    hints = [one for one in lines if one.startswith("hint  ")]
    assert len(hints) > 3
    following = [lines[lines.index(one) + 1] for one in hints if len(one) > 50]
    assert any(one.startswith(" " * 11) for one in following)


def test_the_nearest_clauses_are_suggested() -> None:
    output = run("show", "WIRE-FRAM-002").output
    assert "unknown clause WIRE-FRAM-002; did you mean WIRE-FRAME-002" in output


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "WIRE-FRAME-999"],
        ["list", "--release", "new"],
        ["export", "--format", "pdf"],
        ["export", "--format", "md", "--out", "/no/such/directory/x"],
    ],
)
def test_a_wrong_argument_is_usage(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output


def test_the_json_export_has_every_clause_and_its_members(tmp_path: Path) -> None:
    out = tmp_path / "clauses.json"
    assert run("export", "--format", "json", "--out", str(out)).exit_code == 0
    exported = json.loads(out.read_text(encoding="utf-8"))
    assert [one["id"] for one in exported] == list(all_clauses())
    assert all(set(one) >= {*MEMBERS, "evidence"} for one in exported)


def test_the_markdown_export_has_every_clause_and_every_layout() -> None:
    page = run("export", "--format", "md").output
    assert all(f"| {clause_id} |" in page for clause_id in all_clauses())
    assert "## message_record" in page


SUITE = """
import pytest
pytestmark = [pytest.mark.clause("WIRE-A-001")]

@pytest.mark.clause("WIRE-B-001", "WIRE-B-002")
def test_one(): ...

@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.clause("WIRE-D-001"))])
def test_three(n): ...

@pytest.mark.clause("WIRE-C-001")
class TestGroup:
    def test_two(self): ...

def helper(): ...
"""


def test_tests_are_found_by_their_markers(tmp_path: Path) -> None:
    suite = tmp_path / "conformance" / "wire"
    suite.mkdir(parents=True)
    (suite / "test_x.py").write_text(SUITE, encoding="utf-8")
    (suite / "broken.py").write_text("def (", encoding="utf-8")
    one, two = "conformance/wire/test_x.py::test_one", "TestGroup::test_two"
    two = f"conformance/wire/test_x.py::{two}"
    three = "conformance/wire/test_x.py::test_three"
    assert clause_tests(tmp_path) == {
        "WIRE-A-001": [one, three, two],
        "WIRE-B-001": [one],
        "WIRE-B-002": [one],
        "WIRE-C-001": [two],
        "WIRE-D-001": [three],
    }
