"""Usage errors of ``rmqc test --against``."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from cli.commands.suites.test import test as command
from cli.runs.suites.differential import programs_of

USAGE, NOT_RUN = 2, 3


def rmqc_test(*words: str) -> Result:
    """Return the result of ``rmqc test`` with these words."""
    return CliRunner().invoke(command, words)


@pytest.mark.parametrize(
    "words",
    [
        ("--against", "nothing:"),
        ("--against", "embedded:", "--examples", "some"),
        ("--against", "embedded:", "--examples", "0"),
        ("--against", "embedded:", "--read-only"),
        ("--against", "embedded:", "--target", "embedded:", "--target", "jvm:4.6.0"),
        ("--against", "embedded:", "-k", "name"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...]) -> None:
    result = rmqc_test(*words)
    assert result.exit_code == USAGE
    assert "Error: " in result.output


def test_a_target_that_is_not_there_is_said_so() -> None:
    result = rmqc_test("--target", "127.0.0.1:9", "--against", "127.0.0.1:9")
    assert result.exit_code == NOT_RUN
    assert "no listener" in result.output


def test_examples_are_a_number_or_a_word() -> None:
    assert (programs_of("quick"), programs_of("7")) == (50, 7)
    assert programs_of("deep") > programs_of("quick")
