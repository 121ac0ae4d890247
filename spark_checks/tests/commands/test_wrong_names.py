"""Advice for files of a log or queue that lie in the store under another name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cli.pages.audit.advice import RESTORED, TEXTS, next_steps
from spark_checks.tests.commands.advised import HARMLESS, UNIT, advice, finding, listing

REFUSED = replace(HARMLESS, refusal="a file is not named by an offset")
AGAIN = "rmqc audit '/a b'"


def named(base: int, more: str = "") -> str:
    """Return the path of the log file that begins at *base*, in files of 16 bytes."""
    return f"commitlog/{base:020}{more}"


def step(*wrong: str, right: tuple[str, ...]) -> dict[str, Any]:
    """Return the step for files with *wrong* names, beside those with *right* ones."""
    findings = [finding("INV-FILE-001", file=file) for file in wrong]
    store = listing("commitlog", files=(*right, *wrong))
    (found,) = next_steps(advice(*findings, forecast=REFUSED, listing=store))
    return found


@pytest.mark.parametrize(
    ("base", "suffix", "command"),
    [
        pytest.param(16, ".gz", "gunzip", id="first"),
        pytest.param(32, ".gz", "gunzip", id="middle"),
        pytest.param(32, ".bz2", "bunzip2", id="bzip2"),
        pytest.param(32, ".xz", "unxz", id="xz"),
        pytest.param(32, ".zst", "unzstd --rm", id="zstd"),
    ],
)
def test_a_missing_file_gets_its_bytes_back(
    base: int, suffix: str, command: str
) -> None:
    right = tuple(named(one) for one in (16, 32, 48) if one != base)
    found = step(named(base, suffix), right=right)
    assert found["do"] == TEXTS["RENAMED"]
    assert found["commands"] == [f"{command} '/a b/{named(base, suffix)}'", AGAIN]


def test_missing_files_get_their_names_back_and_others_are_moved_out() -> None:
    wrong = named(0, ".bak"), named(16, ".old"), "commitlog/.DS_Store"
    commands = step(*wrong, right=(named(32),))["commands"]
    assert commands == [
        f"mv '/a b/{named(16, '.old')}' '/a b/{named(16)}'",
        f"mv '/a b/{named(0, '.bak')}' '/a b/{named(0)}'",
        "mv '/a b/commitlog/.DS_Store' '/a b.commitlog-.DS_Store'",
        AGAIN,
    ]


def test_offsets_without_zeros_become_names_again() -> None:
    wrong = [f"commitlog/{base}" for base in (80, 96, 112)]
    commands = step(*wrong, right=(named(128),))["commands"]
    assert commands == [
        f"mv '/a b/commitlog/112' '/a b/{named(112)}'",
        f"mv '/a b/commitlog/96' '/a b/{named(96)}'",
        f"mv '/a b/commitlog/80' '/a b/{named(80)}'",
        AGAIN,
    ]


@pytest.mark.parametrize(
    "wrong",
    [named(32, ".bak"), named(0, ".bak"), named(64, "0.bak")],
    ids=["beside the file", "before a gap, as an expired file", "no offset"],
)
def test_a_file_that_is_not_missing_is_moved_out(wrong: str) -> None:
    (command,) = step(wrong, right=(named(32), named(48)))["commands"]
    assert command.startswith(f"mv '/a b/{wrong}' '/a b.commitlog-")


def test_all_files_of_a_log_get_their_names_back() -> None:
    wrong = [named(one, ".log") for one in (0, 16)]
    commands = step(*wrong, right=())["commands"]
    assert sorted(commands[:2]) == [
        f"mv '/a b/{one}' '/a b/{one.removesuffix('.log')}'" for one in wrong
    ]


def test_a_compressed_file_amid_a_log_comes_before_those_of_a_backup() -> None:
    wrong = finding("INV-FILE-001", file=named(16, ".gz"))
    gap = finding("INV-FILE-003", file=named(16))
    store = listing("commitlog", files=(named(0), wrong.file, named(32)))
    found = advice(wrong, gap, forecast=REFUSED, listing=store)
    texts = [text for text, _ in found.first_steps]
    assert texts.index(TEXTS["RENAMED"]) + 1 == texts.index(RESTORED)
    assert [one["commands"] for one in next_steps(found)] == [[], []]


def test_every_file_with_a_wrong_name_has_a_command() -> None:
    wrong = [f"consumequeue/T/{queue}/.DS_Store" for queue in range(12)]
    assert len(step(*wrong, right=())["commands"]) == 12


def test_errors_beside_a_wrong_name_wait_for_the_next_audit() -> None:
    """The broker has not loaded the log, so that they may follow from the name."""
    wrong = finding("INV-FILE-001", file=named(16, ".gz"))
    header = finding("INV-INDEX-001", file="index/20261123000000000")
    found = next_steps(advice(wrong, UNIT, header, forecast=REFUSED))
    assert [one["do"] for one in found[1:]] == [TEXTS["AFTER_REFUSAL"]] * 2
