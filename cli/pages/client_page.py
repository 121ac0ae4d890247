"""``rmqc report clients``: the suite on every client of the project, and its page."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cli.options.common import list_option
from cli.options.exit_codes import NOT_RUN
from cli.options.output import write_result
from conformance.client.clients.client_page import FILE, keep, page, recorded
from conformance.client.clients.client_run import (
    CLIENTS,
    Client,
    ClientRun,
    ClientRunError,
    reasoned,
    run,
)
from conformance.harness.report.report import read_report

NAMES = [one.name for one in CLIENTS]


@click.command("clients")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write, such as docs/clients.md.",
)
@click.option(
    "--again",
    multiple=True,
    type=click.Choice([*NAMES, "all"]),
    help="Run the suite on this client again; may be given several times.",
)
@click.option(
    "--take",
    nargs=2,
    multiple=True,
    metavar="CLIENT REPORT",
    help="Take the outcomes of a client from a report.json of rmqc test-client.",
)
@list_option(
    "--only",
    metavar="ID,FAMILY-*",
    help="Of those run again, only the tests that name one of these clauses.",
)
@click.option("--jobs", type=int, help="Parallel workers of each run.")
def clients(
    out: Path,
    again: tuple[str, ...],
    take: tuple[tuple[str, str], ...],
    only: str | None,
    jobs: int | None,
) -> None:
    """Run the suite for clients on each client, and write the page of it.

    Recorded clients are not run again without --again.
    """
    runs = recorded(FILE)
    for name, file in take:
        runs[name] = ClientRun.of_report(name, read_report(Path(file)))
    for client in CLIENTS:
        if client.name in runs and not {client.name, "all"} & set(again):
            continue
        click.echo(f"{client.name} is run")
        try:
            earlier = runs.get(client.name)
            runs[client.name] = _run(client, earlier, only=only, jobs=jobs)
        except ClientRunError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(NOT_RUN)
        keep(runs)
    shown = {one.name: reasoned(runs[one.name], one) for one in CLIENTS}
    keep(shown)
    write_result(page(shown), out)
    click.echo(f"{out}: {len(runs)} clients")


def _run(
    client: Client, earlier: ClientRun | None, *, only: str | None, jobs: int | None
) -> ClientRun:
    """Return a new run, with the *earlier* outcomes of clauses that it leaves out."""
    if earlier is None or only is None:
        return run(client, jobs=jobs)
    return earlier.renewed(run(client, jobs=jobs, only=only), only)
