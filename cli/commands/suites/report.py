"""``rmqc report``: pages, tables and badges from the reports of runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from cli.options.common import CommandGroup, Decorator, LocalPath, list_option
from cli.options.exit_codes import FINDINGS, WrongValueError, fail
from cli.options.output import write_result
from cli.options.selection import ALL, select, select_with_all
from cli.pages import implementations_page
from cli.pages.client_page import clients
from conformance.harness.java.ivy import JarsUnavailableError
from conformance.harness.process.process import ProcessError
from conformance.harness.report.pages import run_page
from conformance.harness.report.pages.matrix import (
    FORMATS,
    matrix_of,
    read_linked,
    render,
)
from conformance.harness.report.report import read_report
from conformance.harness.report.report_json import ReportError, schema_text
from conformance.harness.targets.target import TargetError
from conformance.interop.handover.cell import all_cells
from conformance.interop.handover.record import FILE, forget, run_missing
from conformance.interop.handover.table import page
from conformance.interop.tools.cell_file import CellFileError
from conformance.mutants import kill_page, kill_record
from conformance.mutants.matrix import examine_each
from conformance.mutants.mutant import Mutant, all_mutants
from conformance.targets.implementations.record import (
    Implementation,
    implementations,
    keep,
)

DOCS = Path(__file__).parents[3] / "docs"


def _page_option(example: str) -> Decorator:
    """Return the option that names the page to write, such as *example*."""
    return click.option(
        "-o",
        "--out",
        required=True,
        type=LocalPath(dir_okay=False, path_type=Path),
        help=f"The page to write, such as {example}.",
    )


def _cells_option(default: Path | Callable[[], Path]) -> Decorator:
    """Return the option that names the file of the recorded cells."""
    return click.option(
        "--cells",
        "record",
        default=default,
        type=LocalPath(dir_okay=False, path_type=Path),
        help="Where the cells are recorded (default: the project's own record).",
    )


def _again_option(metavar: str, makes: str) -> Decorator:
    """Return the option that forgets recorded cells of these *makes*."""
    return list_option(
        "--again",
        default="",
        metavar=f"{metavar},...",
        help=f"Forget the recorded cells of these {makes} first.",
    )


def _feature_file() -> Path:
    from conformance.interop.programs.record import FILE as FEATURES

    return FEATURES


@contextmanager
def _one_line_if_not_run(*more: type[Exception]) -> Iterator[None]:
    """End the program with a line for a bad file, or a target that did not run."""
    failures: tuple[type[Exception], ...] = (TargetError, JarsUnavailableError, *more)
    try:
        yield
    except CellFileError as error:
        raise WrongValueError(str(error)) from None
    except failures as error:
        fail(error)


@click.group(cls=CommandGroup)
def report() -> None:
    """Make pages, tables and badges from the reports of runs."""


report.add_command(clients)


@report.command("page")
@click.argument(
    "file",
    metavar="REPORT",
    type=LocalPath(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "-o",
    "--out",
    required=True,
    type=LocalPath(dir_okay=False, path_type=Path),
    help="The file to write: .html is a page, .md a summary, .svg a badge.",
)
def page_of_run(file: Path, out: Path) -> None:
    """Write the page, the summary or the badge of one run, by the suffix of the file.

    REPORT is the report.json of `rmqc test --report DIR`, which writes all three.
    """
    if out.suffix not in run_page.FORMATS:
        raise click.UsageError(f"{out}: the suffix is {' or '.join(run_page.FORMATS)}")
    try:
        text = run_page.run_page(read_report(file), out.suffix)
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    write_result(text, out)
    click.echo(str(out))


@report.command()
def schema() -> None:
    """Print the JSON schema of report.json."""
    click.echo(schema_text(), nl=False)


@report.command()
@click.option(
    "-o",
    "--out",
    default=DOCS,
    type=LocalPath(file_okay=False, path_type=Path),
    help="The folder to write to (default: docs, where links between pages work).",
)
def pages(out: Path) -> None:
    """Write all pages and charts of recorded results, without a new run.

    These are admin, clients, handover, headers, implementations, interop, mutants and
    profiles (.md), and a chart (.svg) of each measurement.
    """
    # Imported here: without Spark and Java, the other reports still work.
    from cli.pages.recorded_pages import recorded_pages

    for name, text in recorded_pages():
        file = out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_result(text, file)
        click.echo(str(file))


@report.command()
@click.argument(
    "files",
    metavar="REPORT...",
    nargs=-1,
    required=True,
    type=LocalPath(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "-o",
    "--out",
    required=True,
    type=LocalPath(dir_okay=False, path_type=Path),
    help=f"The file to write: {' or '.join(FORMATS)}.",
)
def matrix(files: tuple[Path, ...], out: Path) -> None:
    """Put several targets side by side: one row a clause, one column a target.

    A REPORT is the report.json of `rmqc test --report DIR`. Several reports on one
    target are a trend: the last has the column, and its changes are listed.
    """
    if out.suffix not in FORMATS:
        raise click.UsageError(f"{out}: the suffix is {' or '.join(FORMATS)}")
    try:
        made = matrix_of(read_linked(files, out))
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    write_result(render(made, out.suffix), out)
    differ = sum(row.differs for row in made.rows)
    targets = "1 target" if len(made.columns) == 1 else f"{len(made.columns)} targets"
    click.echo(
        f"{out}: {len(made.rows)} clauses on {targets},"
        f" {differ} with a pass on one and a failure on another"
    )


@report.command("implementations")
@_page_option("docs/implementations.md")
@click.option(
    "--take",
    nargs=2,
    multiple=True,
    metavar="NAME REPORT",
    help="Record the run in a report.json under this name, such as 'mybroker 1.2'.",
)
def page_of_implementations(out: Path, take: tuple[tuple[str, str], ...]) -> None:
    """Write the page of all recorded runs, by family of clauses.

    Runs on Apache's releases are those of `rmqc evidence`.
    """
    try:
        taken = [Implementation.of_report(n, read_report(Path(f))) for n, f in take]
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    for one in taken:
        click.echo(str(keep(one)))
    runs = list(implementations())
    write_result(implementations_page.page(runs), out)
    click.echo(f"{out}: {len(runs)} runs")


@report.command()
@_page_option("docs/handover.md")
@_cells_option(FILE)
@_again_option("MAKE", "releases (or of reference, or all)")
def handover(out: Path, record: Path, again: str) -> None:
    """Start every release on every release's store, and write the page of it.

    Recorded cells are not run again, so an interrupted run continues.
    """
    with _one_line_if_not_run():
        wanted = list(all_cells())
        makes = (make for cell in wanted for make in (cell.writer, cell.reader))
        forget(select_with_all(again, makes, kind="release"), record)
        cells = run_missing(wanted, record, report=click.echo)
    write_result(page(cells), out)
    click.echo(f"{out}: {len(cells)} cells")


@report.command()
@_page_option("docs/interop.md")
@_cells_option(_feature_file)
@_again_option("WORD", "clients, features or servers (or all)")
def interop(out: Path, record: Path, again: str) -> None:
    """Try every feature of every client at every server, and write the page of it.

    Recorded cells are not run again, so an interrupted run continues.
    """
    from conformance.interop.programs import cell as feature_cell
    from conformance.interop.programs import record as feature_record
    from conformance.interop.programs import table as feature_table

    with _one_line_if_not_run():
        wanted = list(feature_cell.all_cells())
        makes = (
            make for cell in wanted for make in (cell.client, cell.feature, cell.server)
        )
        again_words = select_with_all(again, makes, kind="client, feature or server")
        feature_record.forget(again_words, record)
        cells = feature_record.run_missing(wanted, record, report=click.echo)
    write_result(feature_table.page(cells), out)
    click.echo(f"{out}: {len(cells)} cells")


@report.command()
@_page_option("docs/admin.md")
@click.option(
    "--again", is_flag=True, help="Run all commands, and record what they print."
)
def admin(out: Path, again: bool) -> None:
    """Write the page of mqadmin's 48 commands and the requests behind them.

    Without a record, the commands run at a real 4.6.0 and at the reference.
    """
    from cli.pages.admin_page import page as admin_page
    from conformance.interop.mqadmin import record as admin_record

    with _one_line_if_not_run(ProcessError):
        run = None if again else admin_record.recorded()
        run = run or admin_record.record()
    write_result(admin_page(run), out)
    differ = sum(len(one.differences) for one in run.steps)
    click.echo(f"{out}: {len(run.steps)} steps, {differ} cells differ")


@report.command()
@_page_option("docs/mutants.md")
@_cells_option(kill_record.FILE)
@list_option(
    "--again",
    default="missing",
    metavar="missing|all|ID,...",
    help="Which mutants to run: those without a recorded kill (default), all, some.",
)
@click.option("--jobs", default=2, show_default=True, help="How many run at a time.")
def mutants(out: Path, record: Path, again: str, jobs: int) -> None:
    """Run the suites on every seeded fault, and write the kill matrix.

    Each result is recorded immediately, so an interrupted run continues.

    Exit codes: 0 all are killed, 1 some are not, 2 unknown mutant.
    """
    with _one_line_if_not_run():
        wanted = _mutants_of(again, record)
        if wanted:
            click.echo(f"mutants to run: {len(wanted)}, {jobs} at a time")
        kills = examine_each(wanted, jobs=jobs)
        for line in kill_record.keep_each(kills, record, count=len(wanted)):
            click.echo(line)
        faults, rows = all_mutants(), kill_record.recorded(record)
    write_result(kill_page.page(faults, rows), out)
    alive = kill_record.without_kill(faults, rows)
    click.echo(f"{out}: {len(faults)} mutants, {len(faults) - len(alive)} killed")
    if alive:
        click.echo(f"not killed: {' '.join(alive)}", err=True)
        sys.exit(FINDINGS)


def _mutants_of(words: str, record: Path) -> list[Mutant]:
    """Return the mutants that the words of ``--again`` select."""
    faults = all_mutants()
    if words == ALL:
        return list(faults.values())
    if words == "missing":
        rows = kill_record.recorded(record)
        return list(kill_record.without_kill(faults, rows).values())
    return [faults[name] for name in select(words, faults, kind="mutant")]
