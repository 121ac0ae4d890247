"""Help and results fit into the terminal; pipes get whole lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import COMMANDS, main
from conformance.harness.report.terminal.line_width import wrapped

STORE = Path(__file__).parents[3] / "fixtures" / "store" / "4.6.0-killed"
WIDTH = 60
COPIED = frozenset({"completion"})
"""Commands whose help has lines to copy into a file of a shell."""
SHOWN = (
    *([name, "--help"] for name in sorted(COMMANDS.keys() - COPIED)),
    ["evidence", "study", "--help"],
    ["evidence", "list"],
    ["generate", "--list-faults"],
    ["spec", "list"],
    ["test", "--list", "--suite", "wire"],
    ["recover", str(STORE), "--release", "4.6"],
    ["recover", str(STORE), "--release", "5.3"],
    ["inspect", str(STORE / "commitlog" / "00000000000000000000")],
    ["inspect", str(STORE / "checkpoint")],
)


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_lines_fit_into_the_terminal(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    shown = CliRunner().invoke(main, words, terminal_width=WIDTH)
    lines = shown.output.splitlines()
    assert lines
    own = [line for line in lines if str(STORE) not in line]
    assert [line for line in own if len(line) > WIDTH] == []


@pytest.mark.parametrize(
    "group", ["admin", "bench", "client", "evidence", "report", "spec", "target"]
)
def test_the_first_sentence_of_a_command_is_not_cut(group: str) -> None:
    shown = CliRunner().invoke(main, [group, "--help"]).output
    _, _, rows = shown.partition("\nCommands:\n")
    assert rows
    assert "..." not in rows


def test_a_pipe_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    printed = CliRunner().invoke(main, ["spec", "list", "WIRE-FRAME-003"]).output
    assert printed.count("\n") == 1
    assert printed.endswith(": 0 is JSON, 1 is ROCKETMQ.\n")


def test_wrapped_lines_are_indented_and_commands_stay_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    text = "  some words that do not fit\n  rmqc salvage 'a b' -o NEW\n"
    assert wrapped(text) == (
        "  some words that do\n    not fit\n  rmqc salvage 'a b' -o NEW\n"
    )
    assert wrapped("see it with `rmqc inspect F`") == "see it with\n  `rmqc inspect F`"
    for line in (
        "       cp -a /a/b /a/b.copy",
        "/a store/a b",
        "next     rmqc test",
    ):
        assert wrapped(line) == line
