"""``rmqc audit``: check store directories with Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import format_option
from cli.writing import out_option, write_result

if TYPE_CHECKING:
    from spark_checks.audit import Audit, Progress


@click.command()
@click.argument("stores", metavar="STORE...", nargs=-1, required=True)
@format_option(("table", "json", "html"))
@out_option()
@click.option(
    "--master", default="local[*]", show_default=True, help="The Spark to run on."
)
@click.option("--only", metavar="ID,...", help="Look at these invariants only.")
@click.option(
    "--broker-conf",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The broker's configuration; without it, file sizes are inferred.",
)
def audit(
    *,
    stores: tuple[str, ...],
    form: str,
    out: Path | None,
    master: str,
    only: str | None,
    broker_conf: Path | None,
) -> None:
    """Audit store directories: local paths, or any URL that Arrow opens.

    Nothing is written to a store. Exit codes: 0 clean, 1 findings, 2 not a store
    or unreadable, 3 Spark failed. A warning is something that a broker puts right
    by itself when it starts again; warnings alone are clean.
    """
    from spark_checks.broker_conf import ConfError
    from spark_checks.session import SparkError
    from spark_checks.sources.store_files import NotAStoreError

    try:
        found = _audits(stores, master, _ids(only), broker_conf)
    except (NotAStoreError, ConfError) as error:
        _fail(str(error), code=2)
    except SparkError as error:
        _fail(str(error), code=3)
    _write(found, form, out)
    sys.exit(0 if all(one.is_clean for one in found) else 1)


def _audits(
    stores: tuple[str, ...], master: str, only: list[str], broker_conf: Path | None
) -> list[Audit]:
    from spark_checks.audit import audit_store
    from spark_checks.broker_conf import BrokerConf, read_broker_conf
    from spark_checks.session import spark_session
    from spark_checks.sources.store_files import list_store

    conf = read_broker_conf(broker_conf) if broker_conf else BrokerConf()
    for store in stores:
        list_store(store)  # so that a wrong path does not wait for Spark to start
    with _progress() as progress:
        progress("starting Spark")
        with spark_session(master) as session:
            return [
                audit_store(session, store, conf=conf, only=only, progress=progress)
                for store in stores
            ]


def _ids(only: str | None) -> list[str]:
    """Return the ids in *only*, all of them known."""
    from spark_checks.audit import INVARIANTS

    wanted = [part.strip() for part in (only or "").split(",") if part.strip()]
    unknown = sorted(set(wanted) - {invariant.id for invariant in INVARIANTS})
    if unknown:
        known = ", ".join(sorted(invariant.id for invariant in INVARIANTS))
        raise click.UsageError(f"no invariant {', '.join(unknown)}; there are {known}")
    return wanted


@contextmanager
def _progress() -> Iterator[Progress]:
    """Lend a way to say what is going on: on a terminal only."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _step: None
        return
    with console.status("") as status:
        yield lambda step: status.update(step)


def _write(found: list[Audit], form: str, out: Path | None) -> None:
    from rich.console import Console

    from spark_checks import report

    if form == "table" and out is None and sys.stdout.isatty():
        report.print_tables(found, Console(highlight=False))
        return
    writers = {
        "json": report.as_json,
        "html": report.as_html,
        "table": report.as_table,
    }
    write_result(writers[form](found), out)


def _fail(reason: str, *, code: int) -> None:
    click.echo(f"rmqc audit: {reason}", err=True)
    sys.exit(code)
