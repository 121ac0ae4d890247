"""``rmqc test``: runs without a verdict, unknown profiles and suites, ``--list``."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.commands.suites.client import client_suite
from cli.commands.suites.test import test as command
from cli.runs.suites.listing import keywords_of
from conformance.harness.pytest_plugin.collection.selection import applicable
from conformance.harness.releases import STUDIED
from conformance.harness.targets.target import (
    TargetError,
    nearest_release,
    parse_target,
    release_of_profile,
)
from rocketmq_conformance.paths import module_command
from spec.registry import all_clauses


def run(*words: str) -> Result:
    """Return the result of ``rmqc test`` with these words."""
    return CliRunner().invoke(command, words)


def listed(*words: str) -> dict[str, int]:
    """Return the number of tests of each clause that ``--list`` prints."""
    lines = run("--list", *words).output.splitlines()
    return {line.split()[0]: int(line.split()[2]) for line in lines}


def test_clauses_that_no_selected_suite_tests_end_the_run_with_one_line() -> None:
    ended = run("--suite", "wire", "--only", "STORE-RECORD-007")
    assert ended.exit_code == 3
    reason = "no test of wire names these clauses; those of store do"
    assert ended.output == f"checked nothing: {reason}\n"


def test_clauses_without_a_test_end_the_run_with_one_line() -> None:
    ended = CliRunner().invoke(client_suite, ["--only", "CLIENT-TRACE-001"])
    assert ended.exit_code == 3
    reason = "no test of client names these clauses; they have no test"
    assert ended.output == f"checked nothing: {reason}\n"


def test_a_list_without_a_clause_is_not_silent() -> None:
    ended = run("--suite", "client", "--level", "MAY", "--list")
    assert ended.exit_code == 3
    assert ended.output.startswith(
        "checked nothing: no selected clause has a selected test; "
    )


@pytest.mark.parametrize("option", [[], ["-v"]])
def test_tests_have_the_paths_of_their_suites(
    tmp_path: Path, option: list[str]
) -> None:
    words = ["--only", "WIRE-FRAME-004", "--jobs", "0", "--no-baseline", *option]
    ended = subprocess.run(
        module_command("cli", "test", *words, "-v"),
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "\nconformance/wire/test_frame.py" in ended.stdout, ended.stderr


def test_a_read_only_run_of_writers_ends_with_the_suites_to_check() -> None:
    ended = run("--suite", "recovery", "--read-only")
    assert ended.exit_code == 3
    assert ended.output.startswith("checked nothing: each selected test writes. ")
    assert "--suite routing,wire;" in ended.output
    assert ended.output.count("\n") == 1


def test_a_read_only_run_checks_most_clauses_of_wire() -> None:
    words = ["--suite", "wire", "--read-only", "--jobs", "0"]
    ended = subprocess.run(
        module_command("cli", "test", *words), capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout
    found = re.match(r"--read-only: tests of (\d+) of (\d+) clauses", ended.stderr)
    assert found is not None
    assert int(found[1]) > int(found[2]) / 2
    checked = re.search(r"checked (\d+) of", ended.stdout)
    assert checked is not None
    assert int(found[2]) / 2 < int(checked[1]) <= int(found[1])


def test_an_unknown_profile_is_an_error_with_the_known_ones() -> None:
    ended = run("--profile", "9.9")
    assert ended.exit_code == 2
    assert "9.9 is not one of 4.4, 4.5, 4.6" in ended.output


def test_a_target_without_its_option_is_one_line() -> None:
    ended = run("127.0.0.1:9876")
    assert ended.exit_code == 2
    assert ended.output.endswith(
        "Error: a target follows its option: --target 127.0.0.1:9876\n"
    )


def test_a_misspelt_kind_of_target_gets_a_suggestion() -> None:
    ended = run("--target", "jmv:5.3.3")
    assert ended.exit_code == 2
    assert "'jmv:5.3.3' is not a target; did you mean jvm:?" in ended.output


@pytest.mark.parametrize("address", ["127.0.0.1:99999", "[::1]:65536", "host:0x1"])
def test_a_wrong_port_is_named(address: str) -> None:
    ended = run("--target", address)
    assert ended.exit_code == 2
    port = address.rpartition(":")[2]
    assert f"the port {port} is not a number up to 65535" in ended.output


def test_an_unknown_suite_is_an_error_with_the_known_ones() -> None:
    ended = run("--suite", "wire,wier")
    assert ended.exit_code == 2
    assert "unknown suite wier; did you mean wire?" in ended.output


def test_the_suite_for_clients_on_a_broker_names_its_own_command() -> None:
    ended = run("--suite", "client")
    assert ended.exit_code == 2
    reason = "--suite client tests clients: rmqc test-client --adapter CMD"
    assert ended.output == f"Error: {reason}\n"


def test_the_last_line_of_a_run_has_its_tests_and_fits_into_the_terminal() -> None:
    words = ("--suite", "wire", "--only", "WIRE-FRAME-001", "--jobs", "0")
    ended = subprocess.run(
        module_command("cli", "test", *words),
        env={**os.environ, "COLUMNS": "40"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = ended.stdout.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("tests  "))
    last = " ".join(map(str.strip, lines[first:]))
    assert re.fullmatch(r"tests    4 passed, \d+ not selected in \d+ s", last), lines
    assert max(map(len, lines[first:])) <= 40


def test_the_list_has_only_clauses_of_the_selected_tests() -> None:
    whole, wire = listed(), listed("--suite", "wire")
    assert whole.keys() == all_clauses().keys()
    assert "WIRE-FRAME-001" in wire
    assert wire.keys() < whole.keys()
    assert all(wire.values())
    frames = listed("--suite", "wire", "-k", "bad_frame and not close")
    assert frames.keys() < wire.keys()
    assert "WIRE-COMMAND-003" not in frames


def test_the_list_has_only_tests_that_a_read_only_run_selects() -> None:
    reading = listed("--read-only")
    assert {name.partition("-")[0] for name in reading} <= {"ROUTE", "WIRE"}
    assert reading["WIRE-FRAME-001"] <= listed("--suite", "wire")["WIRE-FRAME-001"]
    ended = run("--list", "--read-only", "--suite", "messaging")
    assert (ended.exit_code, ended.output.count("\n")) == (3, 1)


def test_the_list_has_only_the_suites_of_the_target() -> None:
    assert listed("--target", "store:x") == listed("--suite", "store")
    assert listed("--target", "client:x") == listed("--suite", "client")


def test_the_list_has_only_clauses_about_the_profile() -> None:
    of_4, of_5 = listed("--profile", "4.4"), listed("--profile", "5.4")
    assert "STORE-RECORD-003" in of_5
    assert "STORE-RECORD-003" not in of_4


@pytest.mark.parametrize(
    ("profile", "release"),
    [
        ("4.4", "4.4.0"),
        ("4.5.1", "4.5.2"),
        ("4.7", "4.6.0"),
        ("4.8", "4.9.7"),
        ("4.9.4", "4.9.7"),
        ("5.0", "5.3.3"),
        ("5.1.3", "5.3.3"),
        ("5.4", "5.4.0"),
    ],
)
def test_a_profile_stands_for_the_nearest_studied_release(
    profile: str, release: str
) -> None:
    assert release_of_profile(profile) == release


@pytest.mark.parametrize("profile", ["4.3", "4.10", "6.0", "five"])
def test_no_profile_stands_for_a_series_that_does_not_exist(profile: str) -> None:
    with pytest.raises(TargetError):
        release_of_profile(profile)


def test_a_reported_release_after_the_last_studied_one_stands_for_that() -> None:
    assert nearest_release("6.1.0") == STUDIED[-1]


def test_the_last_keyword_expression_counts() -> None:
    assert keywords_of(["-x", "-k", "one", "-ktwo"]) == "two"
    assert keywords_of(["-x"]) == ""


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["test", "--suites", "wire"], "; did you mean --suite?"),
        (["test", "--frobnicate"], ""),
        (["test-client", "--adaptor", "x"], "; did you mean --adapter?"),
    ],
)
def test_an_unknown_option_is_one_line(words: list[str], suggestion: str) -> None:
    # A process of its own: pytest inside pytest warns of modules imported before.
    ended = subprocess.run(
        module_command("cli", *words), capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert ended.stderr == f"Error: unknown option {words[1]}{suggestion}\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--adapter", ""], "--adapter: the command is empty"),
        (["--adapter", "  "], "--adapter: the command is empty"),
        (["--adapter", "node 'a.js"], "--adapter: node 'a.js: No closing quotation"),
        (
            ["node a.js"],
            "an adapter's command follows its option: --adapter 'node a.js'",
        ),
    ],
)
def test_a_command_that_is_not_one_is_a_usage_error(
    words: list[str], error: str
) -> None:
    ended = CliRunner().invoke(client_suite, words)
    assert (ended.exit_code, ended.stderr) == (2, f"Error: {error}\n")


def test_the_modules_of_a_target_may_be_imported_before_pytest_runs() -> None:
    words = ["test", "--target", "jvm:4.6.0", "--suite", "wire", "-k", "no_such_test"]
    ended = subprocess.run(
        module_command("cli", *words), capture_output=True, text=True
    )
    assert ended.stderr == "checked nothing: no test has been selected\n"
    assert ended.returncode == 3


def test_a_target_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(TargetError, match="is not UTF-8"):
        parse_target("store:st\udcffre")


@pytest.mark.parametrize(
    ("profile", "applies"),
    [("5.3.1", False), ("5.3.3", True), ("5.3", True), ("5.1", False)],
)
def test_a_younger_clause_is_not_about_an_older_release(
    profile: str, applies: bool
) -> None:
    target = parse_target("127.0.0.1:1", profile=profile)
    since_5_3_2 = ["SEND-QUEUE-003"]
    releases = target.release, target.stated_release
    assert applicable(since_5_3_2, releases) == (since_5_3_2 if applies else [])
