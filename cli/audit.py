"""``rmqc audit``: check store directories with Spark."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from cli.options import format_option
from cli.writing import out_option, write_result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_checks.audit import Audit, Progress
    from spark_checks.broker_conf import BrokerConf
    from spark_checks.faults.fault import Planted
    from spark_checks.sampling import Wish


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
@click.option(
    "--score",
    "labels",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Score the audit of one store by what `rmqc generate` planted into it.",
)
@click.option(
    "--export",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the tables of one store there, as Parquet, for questions in SQL.",
)
@click.option(
    "--against",
    metavar="STORE",
    help="Compare one store with this one: a slave with its master, a store with its"
    " copy from before an upgrade.",
)
@click.option(
    "--since",
    metavar="TIME",
    help="Judge only what was stored at TIME or later: 2026-11-22T08:00:00Z (UTC where"
    " no zone is said), or milliseconds since 1970. The log is treated as beginning"
    " there.",
)
@click.option(
    "--sample",
    metavar="FRACTION",
    type=click.FloatRange(0, 1, min_open=True),
    help="Look at so much of the log only, in ranges that chance chooses: 0.01 is a"
    " hundredth. What takes the whole log is not judged, and the report says so.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    help="What --sample chooses by: the same ranges for the same number. Without it"
    " any is taken, and printed.",
)
def audit(
    *,
    stores: tuple[str, ...],
    form: str,
    out: Path | None,
    master: str,
    only: str | None,
    broker_conf: Path | None,
    labels: Path | None,
    directory: Path | None,
    against: str | None,
    since: str | None,
    sample: float | None,
    seed: int | None,
) -> None:
    """Audit store directories: local paths, or any URL that Arrow opens.

    Nothing is written to a store. Exit codes: 0 clean, 1 findings, 2 not a store
    or unreadable, 3 Spark failed. A warning is something that a broker puts right
    by itself when it starts again; warnings alone are clean. With --score it is 0
    where every planted fault was found, and nothing else. With --against a store
    that only ends earlier, or begins later, than the other is clean.
    """
    from spark_checks.broker_conf import ConfError
    from spark_checks.faults.labels import LabelsError, read_labels
    from spark_checks.sampling import SampleError
    from spark_checks.session import SparkError
    from spark_checks.sources.store_files import NotAStoreError
    from spark_checks.views import ExportError

    if (labels or directory or against) and len(stores) > 1:
        raise click.UsageError("--score, --export and --against are about one store")
    if labels and against:
        raise click.UsageError("--score judges a store by itself, without --against")
    if since and (labels or against or directory):
        raise click.UsageError(
            "--since goes with none of --against, --score and --export"
        )
    if sample and (labels or against or directory or since):
        raise click.UsageError(
            "--sample goes with none of --against, --score, --export and --since"
        )
    wishes = Wishes(
        master=master,
        only=_ids(only),
        broker_conf=broker_conf,
        directory=directory,
        against=against,
        since_ms=_time(since),
        sampled=_wish(sample, seed),
        pictured=form == "html",
    )
    try:
        planted = read_labels(labels) if labels else []
        found = _audits(stores, wishes)
    except (
        *(NotAStoreError, ConfError, LabelsError),
        *(ExportError, SampleError),
    ) as error:
        _fail(str(error), code=2)
    except SparkError as error:
        _fail(str(error), code=3)
    if labels:
        _write_score(planted, found[0], form, out)
    _write(found, form, out)
    sys.exit(0 if all(one.is_clean for one in found) else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How stores are to be audited."""

    master: str
    only: Collection[str]
    broker_conf: Path | None
    directory: Path | None
    against: str | None
    since_ms: int | None
    sampled: Wish | None
    pictured: bool


def _audits(stores: tuple[str, ...], wishes: Wishes) -> list[Audit]:
    from spark_checks.broker_conf import BrokerConf, read_broker_conf
    from spark_checks.session import spark_session
    from spark_checks.sources.store_files import (
        is_same_place,
        list_store,
        shown_url,
    )
    from spark_checks.views import export

    conf = BrokerConf()
    if wishes.broker_conf:
        conf = read_broker_conf(wishes.broker_conf)
    for store in (*stores, *filter(None, [wishes.against])):
        list_store(store)  # so that a wrong path does not wait for Spark to start
    if wishes.against and is_same_place(stores[0], wishes.against):
        _fail(f"{shown_url(stores[0])} is asked to be compared with itself", code=2)
    with _progress() as progress:
        progress("starting Spark")
        with spark_session(wishes.master, has_sources=False) as session:
            if wishes.directory:
                progress("writing tables")
                export(session, stores[0], wishes.directory)
            return [
                _audited(session, store, conf, wishes, progress) for store in stores
            ]


def _audited(
    session: SparkSession,
    store: str,
    conf: BrokerConf,
    wishes: Wishes,
    progress: Progress,
) -> Audit:
    """Return the audit of *store*, compared with another one if that is wished."""
    from spark_checks.against.audited import compared_with
    from spark_checks.audit import audit_store

    only = wishes.only
    found = audit_store(
        session,
        store,
        conf=conf,
        only=only,
        pictured=wishes.pictured,
        since_ms=wishes.since_ms,
        sampled=wishes.sampled,
        progress=progress,
    )
    if wishes.against is None:
        return found
    return compared_with(
        session,
        found,
        (store, wishes.against),
        conf=conf,
        only=only,
        progress=progress,
    )


def _time(since: str | None) -> int | None:
    """Return the milliseconds that *since* says."""
    from spark_checks.since import TimeError, time_ms

    try:
        return None if since is None else time_ms(since)
    except TimeError as error:
        raise click.UsageError(f"--since: {error}") from None


def _wish(fraction: float | None, seed: int | None) -> Wish | None:
    """Return which part of the log is to be looked at; None for all of it."""
    from spark_checks.sampling import Wish

    if fraction is None:
        if seed is not None:
            raise click.UsageError("--seed is about --sample")
        return None
    chosen = secrets.randbelow(2**32) if seed is None else seed
    return Wish(fraction=fraction, seed=chosen)


def _ids(only: str | None) -> list[str]:
    """Return the ids in *only*, all of them known."""
    from spark_checks.against.invariants import AGAINST_INVARIANTS
    from spark_checks.audit import INVARIANTS

    ids = {invariant.id for invariant in (*INVARIANTS, *AGAINST_INVARIANTS)}
    wanted = [part.strip() for part in (only or "").split(",") if part.strip()]
    unknown = sorted(set(wanted) - ids)
    if unknown:
        known = ", ".join(sorted(ids))
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


def _write_score(
    planted: list[Planted], found: Audit, form: str, out: Path | None
) -> NoReturn:
    """Write how well *found* agrees with what was *planted*, and exit by it."""
    from spark_checks.faults.labels import score

    scored = score(planted, found.findings)
    if form == "json":
        write_result(json.dumps(scored.as_json(), indent=2) + "\n", out)
    else:
        lines = [f"missed      {one.kind}: {one.expected}" for one in scored.missed]
        lines += [f"unexpected  {one}" for one in scored.unexpected]
        lines.append(
            f"{len(scored.found)} of {len(planted)} found,"
            f" {len(scored.unexpected)} unexpected"
        )
        write_result("\n".join(lines) + "\n", out)
    sys.exit(0 if scored.is_perfect else 1)


def _fail(reason: str, *, code: int) -> None:
    click.echo(f"rmqc audit: {reason}", err=True)
    sys.exit(code)
