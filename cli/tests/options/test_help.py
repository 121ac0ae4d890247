"""The help of every command, read as a user reads it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from cli.main import main


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield *command* and all commands below it, with their names."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            found = command.get_command(context, word)
            assert found is not None
            yield from _commands(found, f"{name} {word}")


def test_every_option_has_a_help_text() -> None:
    assert [
        (name, option.opts)
        for name, command in _commands(main, "rmqc")
        for option in command.params
        if isinstance(option, click.Option) and not (option.help or option.hidden)
    ] == []


def test_no_help_has_the_marks_of_a_docstring() -> None:
    texts = {
        name: command.get_help(click.Context(command))
        for name, command in _commands(main, "rmqc")
    }
    assert [name for name, text in texts.items() if "``" in text] == []
