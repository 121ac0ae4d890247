"""Options that neither ``rmqc test`` nor pytest has, as one line with the nearest."""

from __future__ import annotations

from collections.abc import Generator

import click
import pytest

from cli.options.exit_codes import WrongValueError
from cli.options.selection import unknown_name

_PYTEST_MESSAGE = "unrecognized arguments: "


class UnknownOptions:
    """A pytest plugin that replaces pytest's own usage by an error of the command."""

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_parse(self) -> Generator[None, pytest.Config, pytest.Config]:
        """Raise WrongValueError for an unknown option."""
        try:
            return (yield)
        except pytest.UsageError as error:
            _, found, unknown = str(error).partition(_PYTEST_MESSAGE)
            if not found:
                raise
            name = unknown.split()[0].partition("=")[0]
            reason = unknown_name(name, _own_options(), "option")
            raise WrongValueError(reason) from None


def _own_options() -> list[str]:
    """Return the options of the command, and of the one that invoked it."""
    found = []
    context: click.Context | None = click.get_current_context()
    while context is not None:
        found += [one for option in context.command.params for one in option.opts]
        context = context.parent
    return found
