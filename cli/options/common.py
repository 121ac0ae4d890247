"""Options of several commands, with the same meaning everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def format_option(forms: Sequence[str]) -> Decorator:
    """Return ``--format`` with these *forms*, of which the first is the default."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(list(forms)),
        default=forms[0],
        show_default=True,
        help="How the result is written.",
    )


def namesrv_option(explanation: str) -> Decorator:
    """Return ``-n``; *explanation* is its help, about several addresses."""
    return click.option(
        "-n",
        "--namesrvAddr",
        "namesrv",
        default="127.0.0.1:9876",
        envvar="NAMESRV_ADDR",
        show_default=True,
        metavar="HOST:PORT",
        help=explanation,
    )


def bench_options(what: str, *, has_rounds: bool = True) -> Decorator:
    """Return the options of every measurement; *what* of a release is measured."""
    options: list[Decorator] = [
        click.option(
            "--release",
            default="4.6.0",
            show_default=True,
            help=f"The release whose {what} is measured.",
        ),
        format_option(("table", "json")),
        click.option(
            "--check", is_flag=True, help="Exit with 1 when a goal is missed."
        ),
    ]
    if has_rounds:
        rounds = click.option(
            "--rounds",
            type=click.IntRange(min=1),
            default=5,
            show_default=True,
            help="Interleaved rounds; the median counts.",
        )
        options.insert(1, rounds)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


SECONDS = click.option(
    "--seconds",
    type=click.FloatRange(min=0.1, max=60),
    default=3.0,
    show_default=True,
    help="How long a turn is.",
)
SIZE = click.option(
    "--size",
    "body_size",
    type=click.IntRange(min=10),
    default=1024,
    show_default=True,
    help="Bytes of a body.",
)
