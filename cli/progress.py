"""What ``rmqc bench`` says while it works, and when it cannot."""

from __future__ import annotations

import sys
from typing import NoReturn

import click


def say(what: str) -> None:
    """Show progress on a terminal; a pipe stays quiet."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{what}", err=True, nl=False)


def fail(reason: str, *, code: int) -> NoReturn:
    """End the program with one line."""
    click.echo(f"rmqc bench: {reason}", err=True)
    sys.exit(code)
