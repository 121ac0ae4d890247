"""Comparison of the clauses of two profiles."""

from __future__ import annotations

from click.testing import CliRunner, Result

from cli.commands.suites.spec import spec
from spec.registry import all_clauses


def run(*arguments: str) -> Result:
    """Return the result of the command; an exception fails the test."""
    return CliRunner().invoke(spec, ["diff", *arguments], catch_exceptions=False)


def test_clauses_of_one_profile_alone_are_marked() -> None:
    result = run("4.6", "5.3")
    assert result.exit_code == 0
    lines = [line.split() for line in result.output.splitlines()]
    marked = {words[1]: words[0] for words in lines if words[0] in {"-", "+"}}
    expected = {
        name: "-" if one.applies_to("4.6.0") else "+"
        for name, one in all_clauses().items()
        if one.applies_to("4.6.0") != one.applies_to("5.3.3")
    }
    assert marked == expected
    assert marked["SEND-TOPIC-002"] == "-"
    assert marked["SEND-TOPIC-004"] == "+"
    counts = [list(marked.values()).count(one) for one in "-+"]
    total = f"4.6.0 → 5.3.3: {counts[0]} clauses end, {counts[1]} begin\n"
    assert total in result.output
    assert "POP_MESSAGE (200050)" in result.output


def test_a_selection_and_levels_narrow_the_comparison() -> None:
    result = run("4.6", "5.3", "send-topic-*", "--level", "QUIRK")
    lines = [line.split() for line in result.output.splitlines()]
    assert [words[:2] for words in lines] == [["-", "SEND-TOPIC-008"], ["4.6.0", "→"]]


def test_a_profile_compared_with_itself_has_no_differences() -> None:
    assert run("5.3", "5.3").output == "5.3.3 → 5.3.3: 0 clauses end, 0 begin\n"


def test_a_release_that_does_not_exist_is_usage() -> None:
    result = run("4.6", "3.2")
    assert result.exit_code == 2
    assert result.output.startswith("Error: NOW: 3.2 is not one of ")
