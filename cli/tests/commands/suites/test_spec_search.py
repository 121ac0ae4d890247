"""Search of clauses by words, and the list of areas and families."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from cli.commands.suites.spec import spec
from cli.options.suites.areas import AREAS
from spec.registry import all_clauses


def run(*arguments: str) -> Result:
    """Return the result of the command; an exception fails the test."""
    return CliRunner().invoke(spec, list(arguments), catch_exceptions=False)


def found(*arguments: str) -> list[str]:
    """Return the ids that a search prints."""
    result = run("search", *arguments)
    assert result.exit_code == 0
    return [line.split()[0] for line in result.output.splitlines()]


def test_all_words_are_in_each_found_clause() -> None:
    ids = found("half", "Message")
    texts = [all_clauses()[one].text.lower() for one in ids]
    assert any("half message" in one for one in texts)
    assert "TXN-HALF-001" in ids
    assert set(ids) == set(found("half")) & set(found("message"))


@pytest.mark.parametrize(
    ("word", "clause_id"),
    [
        ("store-crc-001", "STORE-CRC-001"),
        ("UtilAll#crc32", "STORE-CRC-001"),
        ("mxsm/rocketmq-rust#425", "STORE-CRC-001"),
        ("0x7fffffff", "STORE-CRC-001"),
        ("transactions", "TXN-HALF-001"),
    ],
)
def test_ids_sources_issues_hints_and_titles_are_searched(
    word: str, clause_id: str
) -> None:
    assert clause_id in found(word)


def test_a_pattern_is_for_a_whole_word() -> None:
    clauses = all_clauses()
    assert set(found("check*")) < set(found("check"))
    only = found("crc-32", "--only", "STORE-*", "--level", "MUST", "--release", "4.6")
    assert "STORE-CRC-001" in only
    assert {clauses[one].level for one in only} == {"MUST"}
    assert all(one.startswith("STORE-") for one in only)


def test_words_without_a_clause_are_named() -> None:
    result = run("search", "half", "nosuchword")
    assert result.exit_code == 2
    assert result.output == "Error: no clause contains half and nosuchword\n"


def test_every_family_is_listed_with_its_area() -> None:
    lines = run("families").output.splitlines()
    assert [line.split("-*")[0] for line in lines] == list(AREAS)
    words = [word.rstrip(",") for line in lines for word in line.split()]
    listed = {word for word in words if word.count("-") == 2}
    assert listed == {f"{one.rpartition('-')[0]}-*" for one in all_clauses()}
    (line,) = [one for one in lines if one.startswith("TXN-*")]
    count = sum(one.startswith("TXN-") for one in all_clauses())
    assert f"Transactions ({count}): " in line


def test_an_unknown_area_leads_to_the_list() -> None:
    error = "unknown clause TRANS*; rmqc spec families lists all areas and families"
    assert error in run("list", "TRANS*").output
