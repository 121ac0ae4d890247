"""Choosing the clauses of a run."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from cli.commands.suites.test import test as command
from cli.options.suites.clause_selection import chosen
from spec.clause import Level
from spec.registry import all_clauses


def test_without_a_wish_all_are_wanted() -> None:
    assert chosen(None, None) is None


def test_patterns_and_levels_are_both_heeded() -> None:
    found = chosen("wire-frame-*,STORE-CRC-001", "MUST")
    assert found is not None
    assert "STORE-CRC-001" in [one.id for one in found]
    assert {one.level for one in found} == {Level.MUST}
    families = {one.id.rpartition("-")[0] for one in found}
    assert families == {"WIRE-FRAME", "STORE-CRC"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--only", "NO-SUCH-*"], "unknown clause NO-SUCH-*"),
        (["--level", "OFTEN"], "unknown level OFTEN; one of MUST"),
    ],
)
def test_what_is_not_is_named(words: list[str], reason: str) -> None:
    ended = CliRunner().invoke(command, [*words, "--list"])
    assert ended.exit_code == 2
    assert reason in ended.output


def test_the_list_has_a_line_for_each() -> None:
    ended = CliRunner().invoke(command, ["--list", "--only", "STORE-CRC-*,TLS-CERT-*"])
    assert ended.exit_code == 0
    families = ("STORE-CRC-", "TLS-CERT-")
    known = [name for name in all_clauses() if name.startswith(families)]
    lines = ended.output.splitlines()
    assert [line.split()[0] for line in lines] == sorted(known)
    counts = [re.search(r" (\d+) (tests?) ", line) for line in lines]
    nouns = {one[1] == "1": one[2] for one in counts if one is not None}
    assert None not in counts
    assert nouns == {True: "test", False: "tests"}
