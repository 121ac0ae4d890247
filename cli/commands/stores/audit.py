"""``rmqc audit``: check store directories with Spark."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

import click

from cli.options.common import LocalPath, format_option, list_option
from cli.options.exit_codes import USAGE, fail
from cli.options.extras import DISTRIBUTION
from cli.options.moment import TimeError, time_ms
from cli.options.output import out_option, write_result
from cli.options.releases import recoverable_releases, release_option
from cli.options.selection import select
from cli.options.store_list import listed_stores
from cli.runs.stores.audits import AuditOptions, audits, ended_by_interrupt

if TYPE_CHECKING:
    from cli.pages.audit.audited_store import AuditedStore
    from spark_checks.audit import NotAudited
    from spark_checks.faults.fault import Planted
    from spark_checks.sampling import SampleSpec


@click.command()
@click.argument("arguments", metavar="STORE...", nargs=-1)
@click.option(
    "--stores-from",
    metavar="FILE",
    type=click.File(encoding="utf-8"),
    help="Audit the stores in this file too: a path or URL in each line; - for standard"
    " input.",
)
@format_option(("table", "json", "html"))
@out_option()
@click.option(
    "--master", default="local[*]", show_default=True, help="The Spark to run on."
)
@list_option("--only", metavar="ID,FAMILY-*", help="Check only these invariants.")
@click.option(
    "--broker-conf",
    type=LocalPath(dir_okay=False, path_type=Path),
    help="The broker's configuration; without it, file sizes are inferred.",
)
@release_option(
    "Release of the broker that will start on a damaged store, for the advice;"
    " without it, 4.6.0, 5.3.3 or 5.5.0, by the store's files.",
    among=recoverable_releases,
)
@click.option(
    "--score",
    "labels",
    type=LocalPath(dir_okay=False, path_type=Path),
    help="Score the audit of one store by what `rmqc generate` planted into it.",
)
@click.option(
    "--export",
    "directory",
    type=LocalPath(file_okay=False, path_type=Path),
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
    help="Audit only messages stored at TIME or later, as 2026-11-22T08:00:00Z (UTC"
    " without a zone) or milliseconds since 1970. The log is treated as beginning"
    " there.",
)
@click.option(
    "--sample",
    metavar="FRACTION",
    type=click.FloatRange(0, 1, min_open=True),
    help="Audit only this part of the log, in random ranges: 0.01 is a hundredth. The"
    " report names the invariants that need the whole log and are not checked.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    help="Seed of --sample: an equal seed selects equal ranges. Without it, a random"
    " seed is used and printed.",
)
def audit(
    *,
    arguments: tuple[str, ...],
    stores_from: TextIO | None,
    form: str,
    out: Path | None,
    master: str,
    only: str | None,
    broker_conf: Path | None,
    release: str | None,
    labels: Path | None,
    directory: Path | None,
    against: str | None,
    since: str | None,
    sample: float | None,
    seed: int | None,
) -> None:
    """Audit store directories: local paths and patterns, or URLs.

    Arrow or fsspec opens a URL. Nothing is written to a store. Exit codes: 0 clean, 1
    findings, 2 not a store or unreadable, 3 Spark failed, 130 interrupted. Of several
    stores, one that is unreadable does not end the audit of the others. Warnings alone
    are clean, unless a start fails or loses messages, as `rmqc recover` forecasts. With
    --score it is 0 where every planted fault was found, and nothing else. With
    --against a store that only ends earlier, or begins later, than the other is clean.
    """
    stores = listed_stores(arguments, stores_from)
    given = {
        "--score": labels,
        "--against": against,
        "--export": directory,
        "--since": since,
        "--sample": sample,
    }
    _check_together({name for name, value in given.items() if value}, len(stores))
    with ended_by_interrupt():
        options = AuditOptions(
            master=master,
            only=_ids(only),
            broker_conf=broker_conf,
            release=release,
            directory=directory,
            against=against,
            since_ms=_time(since),
            sample_spec=_sample_spec(sample, seed),
            with_charts=form == "html",
        )
        with _as_target_error():
            planted = _planted(labels)
            found = audits(stores, options)
        if labels:
            _write_score(planted, found, form, out)
        _write(found, form, out)
    sys.exit(_exit_code(found))


def _exit_code(found: Sequence[AuditedStore | NotAudited]) -> int:
    """Return 1 if a store is not clean, else 2 if one could not be read."""
    from cli.pages.audit.audited_store import AuditedStore

    audited = [one for one in found if isinstance(one, AuditedStore)]
    if any(not one.is_clean for one in audited):
        return 1
    return 0 if len(audited) == len(found) else 2


def _check_together(given: Set[str], store_count: int) -> None:
    """Refuse options that do not go with one another, or with so many stores."""
    about_one = given & {"--score", "--export", "--against"}
    if about_one and store_count > 1:
        raise click.UsageError("--score, --export and --against are about one store")
    if given >= {"--score", "--against"}:
        raise click.UsageError("--score is about a single store, without --against")
    if "--since" in given and about_one:
        raise click.UsageError(
            "--since goes with none of --against, --score and --export"
        )
    if "--sample" in given and (about_one or "--since" in given):
        raise click.UsageError(
            "--sample goes with none of --against, --score, --export and --since"
        )


@contextmanager
def _as_target_error() -> Iterator[None]:
    """End the program with one line where a store cannot be audited."""
    # First, so that its extra is named, and not that of py4j, which it brings along.
    import pyspark  # noqa: F401

    from spark_checks.broker_conf import ConfError
    from spark_checks.faults.labels import LabelsError
    from spark_checks.file_systems import NotAStoreError
    from spark_checks.sampling import SampleError
    from spark_checks.session.failures import SparkError
    from spark_checks.views import ExportError

    try:
        yield
    except (
        *(NotAStoreError, ConfError, LabelsError),
        *(ExportError, SampleError),
    ) as error:
        fail(error, code=USAGE)
    except SparkError as error:
        fail(error)


def _planted(labels: Path | None) -> Sequence[Planted]:
    """Return the faults in the label file; empty without one."""
    from spark_checks.faults.labels import read_labels

    return read_labels(labels) if labels else []


def _time(since: str | None) -> int | None:
    """Return *since* in milliseconds since 1970."""
    try:
        return None if since is None else time_ms(since)
    except TimeError as error:
        raise click.UsageError(f"--since: {error}") from None


def _sample_spec(fraction: float | None, seed: int | None) -> SampleSpec | None:
    """Return the selected part of the log; None for all of it."""
    if fraction is None:
        if seed is not None:
            raise click.UsageError("--seed is about --sample")
        return None
    from spark_checks.sampling import SampleSpec

    chosen = secrets.randbelow(2**32) if seed is None else seed
    return SampleSpec(fraction=fraction, seed=chosen)


def _ids(only: str | None) -> list[str]:
    """Return the ids of the invariants that *only* selects; none for all."""
    from spark_checks.findings import INVARIANTS

    return select(only, sorted(INVARIANTS), kind="invariant") if only else []


def _write(
    found: Sequence[AuditedStore | NotAudited], form: str, out: Path | None
) -> None:
    from cli.pages.audit import report

    if form == "table" and out is None:
        text = report.as_table(found, is_styled=sys.stdout.isatty())
        write_result(text, out, is_table=True)
        return
    writers: dict[str, Callable[[report.AuditResults], str]] = {
        "json": report.as_json,
        "html": lambda audits: report.as_html(audits, note=_made_by()),
        "table": report.as_table,
    }
    write_result(writers[form](found), out)
    if out is not None:
        click.echo(f"{report.as_lines(found)}written into {out}", err=True)


def _made_by() -> str:
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"Audited by rmqc {version(DISTRIBUTION)} on {now}."


def _write_score(
    planted: Sequence[Planted],
    found: Sequence[AuditedStore | NotAudited],
    form: str,
    out: Path | None,
) -> NoReturn:
    """Write how well *found* agrees with what was *planted*, and exit by it."""
    from cli.pages.audit.audited_store import AuditedStore
    from spark_checks.faults.labels import score

    audited = [one.audit for one in found if isinstance(one, AuditedStore)]
    scored = score(planted, [finding for one in audited for finding in one.findings])
    if form == "json":
        write_result(json.dumps(scored.as_json(), indent=2) + "\n", out)
    else:
        lines = [f"missed      {one.kind}: {one.place}" for one in scored.missed]
        lines += [f"unexpected  {one.place}" for one in scored.unexpected]
        lines.append(
            f"{len(scored.found)} of {len(planted)} found,"
            f" {len(scored.unexpected)} unexpected"
        )
        write_result("\n".join(lines) + "\n", out, is_table=True)
    sys.exit(0 if scored.is_perfect else 1)
