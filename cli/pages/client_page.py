"""``rmqc report clients``: the suite on every client of the project, and its page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from cli.options.common import LocalPath, list_option
from cli.options.exit_codes import fail
from cli.options.output import write_result
from cli.options.selection import ALL, select, select_with_all
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
from conformance.harness.report.report_json import ReportError
from spec.registry import all_clauses

NAMES = [one.name for one in CLIENTS]


@click.command("clients")
@click.option(
    "-o",
    "--out",
    required=True,
    type=LocalPath(dir_okay=False, path_type=Path),
    help="The page to write, such as docs/clients.md.",
)
@list_option(
    "--again",
    default="",
    metavar="CLIENT,...",
    help=f"Run the suite on these clients again: all, {', '.join(NAMES)}.",
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
    again: str,
    take: tuple[tuple[str, str], ...],
    only: str | None,
    jobs: int | None,
) -> None:
    """Run the suite for clients on each client, and write the page of it.

    Recorded clients are not run again without --again.
    """
    if only and not again:
        raise click.UsageError("--only is about --again")
    if only:
        select(only, all_clauses(), kind="clause")
    names = select_with_all(again, NAMES, kind="client")
    runs = {**recorded(FILE), **_taken(take)}
    for client in CLIENTS:
        if client.name in runs and not {client.name, ALL} & names:
            continue
        click.echo(f"{client.name} is run")
        try:
            earlier = runs.get(client.name)
            runs[client.name] = _run(client, earlier, only=only, jobs=jobs)
        except ClientRunError as error:
            fail(error)
        keep(runs)
    shown = {one.name: reasoned(runs[one.name], one) for one in CLIENTS}
    keep(shown)
    write_result(page(shown), out)
    click.echo(f"{out}: {len(runs)} clients")


def _taken(take: Iterable[tuple[str, str]]) -> dict[str, ClientRun]:
    """Return the runs in the reports of ``--take``, by client."""
    found = {}
    for words, file in take:
        (name,) = select(words, NAMES, kind="client")[:1]
        try:
            found[name] = ClientRun.of_report(name, read_report(Path(file)))
        except ReportError as error:
            raise click.UsageError(str(error)) from None
    return found


def _run(
    client: Client, earlier: ClientRun | None, *, only: str | None, jobs: int | None
) -> ClientRun:
    """Return a new run, with the *earlier* outcomes of clauses that it leaves out."""
    if earlier is None or only is None:
        return run(client, jobs=jobs)
    return earlier.renewed(run(client, jobs=jobs, only=only), only)
