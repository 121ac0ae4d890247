"""``rmqc report``: what can be made of the reports of runs."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.harness.matrix import FORMATS, matrix_of, render
from conformance.harness.report import ReportError, read_report


@click.group()
def report() -> None:
    """Make something of the reports of runs."""


@report.command()
@click.argument(
    "files",
    metavar="REPORT...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file to write: {' or '.join(FORMATS)}.",
)
def matrix(files: tuple[Path, ...], out: Path) -> None:
    """Put several targets side by side: a row a clause, a column a REPORT.

    A REPORT is the report.json of ``rmqc test --report DIR``.
    """
    if out.suffix not in FORMATS:
        raise click.UsageError(f"{out}: the suffix is {' or '.join(FORMATS)}")
    try:
        made = matrix_of([read_report(file) for file in files])
        out.write_text(render(made, out.suffix), encoding="utf-8")
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"{out}: {error.strerror}") from None
    differ = sum(row.differs for row in made.rows)
    click.echo(
        f"{out}: {len(made.rows)} clauses on {len(made.columns)} targets,"
        f" {differ} of them not met by all"
    )
