"""``rmqc target``: how to make a target of your own broker, and what it can do."""

from __future__ import annotations

import click

from conformance.harness.embedded import SOURCES

TEMPLATE = SOURCES / "conformance" / "targets" / "template.toml"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def target() -> None:
    """Make a target of your own broker."""


@target.command()
def template() -> None:
    """Print a commented target.toml, to be filled in.

    ``rmqc test --target cmd:target.toml`` starts what it describes.
    """
    click.echo(TEMPLATE.read_text(encoding="utf-8"), nl=False)
