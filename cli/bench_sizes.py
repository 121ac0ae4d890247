"""Options that several measurements have: how long a turn is, how large a body."""

from __future__ import annotations

import click

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
