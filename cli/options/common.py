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
        help="Format of the result.",
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
        help=explanation,
    )
