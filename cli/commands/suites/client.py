"""``rmqc test-client``, the suite for clients, and ``rmqc client``, its adapter."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from cli.commands.suites.test import test
from cli.options.common import CommandGroup, LocalPath
from cli.options.exit_codes import WrongValueError
from cli.options.suites.run_options import (
    KNOWN,
    LEVEL,
    LISTED,
    ONLY,
    PROFILE,
    WRITE_KNOWN,
)
from conformance.harness.targets.client_adapter import (
    FIRST_HELLO_TIMEOUT_S,
    FIRST_HELLO_VARIABLE,
)
from conformance.harness.targets.client_target import REFERENCE
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import CLIENT

TEMPLATE = SOURCES / "conformance" / "client" / "adapters" / "template.py"


@click.group(cls=CommandGroup)
def client() -> None:
    """Write an adapter for your client, for `rmqc test-client`."""


@client.command()
def template() -> None:
    """Print a commented adapter in Python, to be filled in.

    `rmqc test-client --adapter 'python3 adapter.py'` runs it.
    """
    click.echo(TEMPLATE.read_text(encoding="utf-8"), nl=False)


@click.command(
    "test-client",
    context_settings={
        "ignore_unknown_options": True,
        "help_option_names": ["-h", "--help"],
    },
)
@click.option(
    "--adapter",
    "adapters",
    multiple=True,
    metavar="CMD",
    help="Command that starts the adapter of a client (docs/client_adapter.md); by"
    " default the reference client's. May be given several times.",
)
@PROFILE
@KNOWN
@WRITE_KNOWN
@click.option(
    "--report",
    type=LocalPath(file_okay=False, path_type=Path),
    help="Directory for report.html, .json, junit.xml and what failing tests leave.",
)
@ONLY
@LEVEL
@LISTED
@click.option(
    "--jobs",
    type=click.IntRange(0),
    help="Parallel workers, each with its own adapter; 0 runs in this process.",
)
@click.option(
    "--hello-timeout-s",
    type=click.FloatRange(0, min_open=True),
    default=FIRST_HELLO_TIMEOUT_S,
    show_default=True,
    help="Seconds in which the first adapter responds to hello.",
)
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def client_suite(
    adapters: tuple[str, ...],
    only: str | None,
    jobs: int | None,
    hello_timeout_s: float,
    pytest_args: tuple[str, ...],
    **options: object,
) -> None:
    """Run the suite for clients, which plays the name servers and the brokers.

    The client is driven through its adapter, a program that reads and writes lines of
    JSON. Further arguments go to pytest, for example -k NAME or -x.

    Exit codes: 0 the client conforms, 1 it does not, 2 usage, 3 the harness or the
    adapter failed to run.
    """
    _check(adapters, pytest_args)
    os.environ[FIRST_HELLO_VARIABLE] = str(hello_timeout_s)
    names = tuple(f"{CLIENT}{one}" for one in adapters or (REFERENCE,))
    click.get_current_context().invoke(
        test,
        targets=names,
        suite="client",
        only=only,
        jobs=jobs,
        pytest_args=pytest_args,
        **options,
    )


def _check(adapters: tuple[str, ...], pytest_args: tuple[str, ...]) -> None:
    """Raise an error of usage for a command that cannot be one, before any run."""
    for command in adapters:
        try:
            is_empty = not shlex.split(command)
        except ValueError as error:
            raise WrongValueError(f"--adapter: {command}: {error}") from None
        if is_empty:  # such as an unset variable of the shell
            raise WrongValueError("--adapter: the command is empty")
    first = pytest_args[0] if pytest_args else "-"
    if not first.startswith("-"):
        advice = f"--adapter {shlex.quote(first)}"
        raise WrongValueError(f"an adapter's command follows its option: {advice}")
