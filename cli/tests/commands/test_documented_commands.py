"""Every ``rmqc`` command and option in the documents exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.main import main
from conformance.harness.pytest_plugin.options import SUITES

ROOT = Path(__file__).parents[3]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "packaging").rglob("*.md")),
    *(ROOT / name / "README.md" for name in ("bench", "conformance", "spark_checks")),
]
SPAN = re.compile(r"`(rmqc [^`]+)`|^\s*(?:\$ )?(rmqc .+)$", re.MULTILINE)
OWN_OPTIONS = {"--help", "--version"}
OPTION = re.compile(r"(?<!\S)\[?(--[a-z][a-z-]+)")


def documented(document: Path) -> Iterator[str]:
    """Yield the command lines in code spans and code blocks."""
    text = document.read_text(encoding="utf-8").replace("\\\n", " ")
    for span, line in SPAN.findall(text):
        yield (span or line).partition(" #")[0].replace("\n", " ")


def options_of(line: str) -> set[str]:
    """Return the options of the commands that *line* names; none for unknown ones."""
    context = click.Context(main)
    first, *others = re.split(r"[ \\\\|]+", line.removeprefix("rmqc "))
    if first.startswith("-"):
        return OWN_OPTIONS
    command = main.get_command(context, first)
    if command is None:
        return set()
    named = [command]
    if isinstance(command, click.Group):
        named += filter(None, (command.get_command(context, word) for word in others))
    return OWN_OPTIONS | {
        name for one in named for option in one.params for name in option.opts
    }


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_documented_commands_and_options_exist(document: Path) -> None:
    wrong = []
    for line in documented(document):
        options = options_of(line)
        if not options or not set(OPTION.findall(line)) <= options:
            wrong.append(line)
    assert not wrong


def test_the_first_five_minutes_name_every_suite() -> None:
    text = (ROOT / "docs" / "five-minutes.md").read_text(encoding="utf-8")
    named = set(re.findall(r"--suite (\w+)|`(\w+)`", text))
    assert set(SUITES) - {word for pair in named for word in pair} == set()
