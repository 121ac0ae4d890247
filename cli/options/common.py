"""Options of several commands, with the same meaning everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import click

SENTENCE_SIZE = 200
"""Characters of a command's first sentence, at most."""
URL_GIVEN = "a URL is given, and a local path is required"
"""Reason without the URL: it may have a key."""
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def format_option(forms: Sequence[str]) -> Decorator:
    """Return ``--format`` with these *forms*, of which the first is the default."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(list(forms)),
        default=forms[0],
        show_default=True,
        help="Format of the result.",
    )


class LocalPath(click.Path):
    """A path on this machine, not empty. A URL is refused, and not shown."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the path of *value*."""
        if "://" in os.fspath(value):
            self.fail(URL_GIVEN, param, ctx)
        if not os.fspath(value):  # else it is the current directory
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class CommandGroup(click.Group):
    """A group whose help has the whole first sentence of each command."""

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands in lines that are wrapped, and not cut as click's are."""
        named = [
            (name, self.get_command(ctx, name)) for name in self.list_commands(ctx)
        ]
        rows = [
            (name, one.get_short_help_str(limit=SENTENCE_SIZE))
            for name, one in named
            if one is not None and not one.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def list_option(
    *names: str,
    default: str | None = None,
    callback: Callable[[click.Context, click.Parameter, str], Any] | None = None,
    **attributes: Any,
) -> Decorator:
    """Return an option with a comma list, whose repetitions are one list.

    Its value is the text of the whole list, or what *callback* returns for it.
    """

    def joined(
        context: click.Context, option: click.Parameter, given: tuple[str, ...]
    ) -> Any:
        if not given:
            return None
        text = ",".join(given)
        return text if callback is None else callback(context, option, text)

    return click.option(
        *names,
        multiple=True,
        default=None if default is None else (default,),
        callback=joined,
        **attributes,
    )


def namesrv_option(explanation: str) -> Decorator:
    """Return ``-n``; *explanation* is its help, about several addresses."""
    return click.option(
        "-n",
        "--namesrvAddr",
        "--namesrv",
        "namesrv",
        default="127.0.0.1:9876",
        envvar="NAMESRV_ADDR",
        show_default=True,
        metavar="HOST:PORT",
        callback=_with_ports,
        help=explanation,
    )


def _with_ports(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """Return *text*, addresses separated by semicolons, if each has a port."""
    for address in text.split(";"):
        host, _, port = address.strip().rpartition(":")
        if address.strip() and not (host and port.isdecimal()):
            host = host or address.strip()
            raise click.BadParameter(f"{address!r} has no port, as {host}:9876 has")
    return text
