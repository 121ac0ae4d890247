"""Selections of names, and the releases that ``--release`` accepts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from cli.main import main
from cli.options.exit_codes import WrongValueError
from cli.options.selection import select

NAMES = ("WIRE-FRAME-001", "WIRE-FRAME-002", "STORE-CRC-001")
STORE = Path(__file__).parents[3] / "fixtures" / "store" / "4.6.0-stopped"


def run(arguments: Sequence[str]) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("store-crc-001", ["STORE-CRC-001"]),
        ("WIRE-*", ["WIRE-FRAME-001", "WIRE-FRAME-002"]),
        (" STORE-*, wire-frame-002 ,", ["WIRE-FRAME-002", "STORE-CRC-001"]),
        ("*", list(NAMES)),
    ],
)
def test_ids_patterns_and_lists_select(text: str, selected: list[str]) -> None:
    assert select(text, NAMES, kind="clause") == selected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("WIRE-FRAM-001", "unknown clause WIRE-FRAM-001; did you mean WIRE-FRAME-001"),
        ("STORE-CRC-001,X", f"unknown clause X; one of {', '.join(NAMES)}"),
        ("wire-frame", "unknown clause wire-frame; did you mean WIRE-FRAME-*?"),
        ("STORE", "unknown clause STORE; did you mean STORE-*?"),
    ],
)
def test_an_unknown_name_is_reported_with_the_nearest(text: str, message: str) -> None:
    with pytest.raises(WrongValueError) as error:
        select(text, NAMES, kind="clause")
    assert error.value.message.startswith(message)


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspekt"],
        ["audit", str(STORE), "--only", "INV-CQ-00"],
        ["bench", "all", "--only", "sendd"],
        ["report", "mutants", "-o", "page.md", "--again", "header_length_from_8"],
        ["report", "handover", "-o", "page.md", "--again", "4.9.6"],
        ["report", "interop", "-o", "page.md", "--again", "Jawa 4.6.0"],
        ["report", "clients", "-o", "page.md", "--again", "Jawa 4.6.0"],
        ["report", "clients", "-o", "page.md", "--take", "referenz", "r.json"],
        ["spec", "list", "WIRE-FRAM-*"],
        ["spec", "show", "WIRE-FRAM-002"],
        ["test", "--explain", "WIRE-FRAM-002"],
        ["test", "--only", "WIRE-FRAM-002"],
        ["test", "--suite", "wyre"],
        ["test-client", "--only", "CLIENT-RETRI-001"],
    ],
)
def test_every_command_suggests_names(arguments: list[str]) -> None:
    ended = run(arguments)
    assert ended.exit_code == 2
    assert "; did you mean " in ended.output
    assert ended.output.count("\n") == 1


RELEASED = [
    ["inspect", "--release"],
    ["recover", str(STORE), "--release"],
    ["spec", "headers", "PULL_MESSAGE", "--release"],
    ["spec", "list", "WIRE-FRAME-*", "--release"],
]


@pytest.mark.parametrize("command", RELEASED, ids=lambda words: words[0] + words[1])
def test_a_series_without_a_study_is_its_nearest_release(command: list[str]) -> None:
    words = [*command, "4.7"]
    if command[0] == "inspect":
        words.append(str(STORE / "checkpoint"))
    ended = run(words)
    assert ended.exit_code == 0
    notice = "release 4.7: using 4.6.0, the nearest studied release\n"
    assert ended.stderr == notice


@pytest.mark.parametrize("command", RELEASED, ids=lambda words: words[0] + words[1])
def test_the_series_of_a_studied_release_needs_no_notice(command: list[str]) -> None:
    words = [*command, "4.6"]
    if command[0] == "inspect":
        words.append(str(STORE / "checkpoint"))
    ended = run(words)
    assert (ended.exit_code, ended.stderr) == (0, "")


@pytest.mark.parametrize("release", ["4.3", "6", "new"])
def test_a_release_that_does_not_exist_is_usage(release: str) -> None:
    ended = run(["recover", str(STORE), "--release", release])
    assert ended.exit_code == 2
    assert ended.output.startswith("Error: --release: ")
    assert ended.output.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "values", "more"),
    [
        ("--only", ["WIRE-FRAME-002", "STORE-CRC-*"], []),
        ("--suite", ["wire", "tls"], []),
        ("--level", ["QUIRK", "should"], ["--only", "WIRE-*"]),
    ],
)
def test_a_repeated_option_is_one_list(
    option: str, values: list[str], more: list[str]
) -> None:
    list_words = ["test", "--list", *more]
    once = run([*list_words, option, ",".join(values)])
    repeated = run([*list_words, *(word for one in values for word in (option, one))])
    assert (repeated.exit_code, repeated.output) == (once.exit_code, once.output)
    alone = run([*list_words, option, values[-1]])
    assert len(once.output.splitlines()) > len(alone.output.splitlines())


def test_explanations_of_a_repeated_option_are_all_shown() -> None:
    ended = run(["test", "--explain", "WIRE-FRAME-001", "--explain", "STORE-CRC-001"])
    assert "WIRE-FRAME-001 (" in ended.output
    assert "STORE-CRC-001 (" in ended.output


TEXT, SIZES = "1,2", [1 << 30, 2 << 30]
"""Values of the options below for 1 and 2."""
LISTS: dict[str, dict[str, object]] = {
    "test": dict.fromkeys(["--explain", "--level", "--only", "--suite"], TEXT),
    "test-client": {"--level": TEXT, "--only": TEXT},
    "audit": {"--only": TEXT},
    "generate": {"--faults": TEXT},
    "report clients": {"--again": TEXT, "--only": TEXT},
    "report handover": {"--again": TEXT},
    "report interop": {"--again": TEXT},
    "report mutants": {"--again": TEXT},
    "bench all": {"--only": TEXT},
    "bench audit": {"--size": SIZES},
    "bench cluster": {"--size": SIZES, "--workers": [1, 2]},
    "bench send": {"--threads": [1, 2]},
}


@pytest.mark.parametrize("path", LISTS)
def test_no_command_drops_a_repeated_list(path: str) -> None:
    command: click.Command = main
    for word in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    context = click.Context(command)
    options = {name: one for one in command.params for name in one.opts}
    values = {
        name: options[name].process_value(context, ("1", "2")) for name in LISTS[path]
    }
    assert values == LISTS[path]


def test_a_suite_is_selected_in_any_letter_case() -> None:
    ended = run(["test", "--suite", "WIR*", "--only", "WIRE-JSON-001", "--jobs", "0"])
    assert ended.exit_code == 0, ended.output
