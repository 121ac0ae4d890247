"""
``rmqc spec``: the clauses of the specification, listed, shown and exported.
"""

from __future__ import annotations

from pathlib import Path

import click

from cli.exports.clause_search import diff, echo_clauses, families, search
from cli.exports.headers import evolution, headers
from cli.exports.pages import html_page, markdown_page, releases, write_diagrams
from cli.exports.plain import clauses_as_json, layouts_as_json
from cli.exports.readers import dissector, kaitai
from cli.options.common import CommandGroup, LocalPath
from cli.options.output import out_option, write_result
from cli.options.releases import release_option
from cli.options.suites.clause_selection import listed
from cli.options.suites.completions import chosen_clauses
from cli.options.suites.run_options import LEVEL
from cli.runs.suites.clause_tests import clause_tests
from conformance.harness.report.evidence.request_coverage import coverage_as_json
from conformance.harness.report.terminal.line_width import wrapped
from spec.clause import Clause
from spec.observed import evidence_of

ROOT = Path(__file__).parents[3]


@click.group(cls=CommandGroup)
def spec() -> None:
    """List, search, show and export the clauses of the specification."""


spec.add_command(families)
spec.add_command(search)
spec.add_command(diff)
spec.add_command(headers)
spec.add_command(evolution)


@spec.command("list")
@click.argument(
    "selection",
    metavar="[ID,FAMILY-*]...",
    nargs=-1,
    shell_complete=chosen_clauses,
)
@LEVEL
@release_option("Only the clauses that apply to this release, as 4.6.")
def list_(selection: tuple[str, ...], level: str | None, release: str | None) -> None:
    """List id, level and sentence of all clauses, or of a selection.

    `rmqc spec families` lists the areas and families.
    """
    echo_clauses(listed(selection, level, release))


@spec.command()
@click.argument(
    "selection",
    metavar="ID,FAMILY-*...",
    nargs=-1,
    required=True,
    shell_complete=chosen_clauses,
)
def show(selection: tuple[str, ...]) -> None:
    """Show everything about each of the selected clauses."""
    for number, one in enumerate(listed(selection)):
        if number:
            click.echo()
        _show(one)


def _show(one: Clause) -> None:
    shown = {
        "releases": releases(one),
        "source": one.source,
        "issues": ", ".join(one.issues),
        "untestable": one.untestable or "",
        "tests": "\n".join(clause_tests(ROOT).get(one.id, [])),
        "evidence": ", ".join(f"{k} {v}" for k, v in evidence_of(one.id).items()),
    }
    rows = [(name, value) for name, value in shown.items() if value]
    rows += [("hint", f"{found}: {cause}") for found, cause in one.hints]
    click.echo(wrapped(f"{one.id} ({one.level})\n\n  {one.text}\n", indent=0))
    for name, value in rows:
        for number, line in enumerate(value.split("\n")):
            row = f"{'' if number else name:<10} {line}"
            click.echo(wrapped(row, 11) if " " in line else row)


FORMATS = ("md", "html", "json", "lua", "ksy")


@spec.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    required=True,
    help="md and html are pages, json is for programs, lua is a dissector for"
    " Wireshark, ksy a description for Kaitai Struct.",
)
@click.option(
    "--what",
    type=click.Choice(["clauses", "layouts", "requests"]),
    default="clauses",
    show_default=True,
    help="Content of the json.",
)
@click.option(
    "--diagrams",
    type=LocalPath(file_okay=False, path_type=Path),
    help="Write byte diagrams (SVG) into this folder, for the md page.",
)
@out_option()
def export(form: str, what: str, diagrams: Path | None, out: Path | None) -> None:
    """Export clauses and layouts.

    A clause has the tests that name it and the observed outcome of each release. A
    request code has its clauses, or the reason why it has none.
    """
    try:
        if diagrams is not None:
            write_diagrams(diagrams)
    except OSError as error:
        raise click.UsageError(f"{error.filename}: {error.strerror}") from error
    write_result(exported(form, what, diagrams), out)


def exported(form: str, what: str, diagrams: Path | None) -> str:
    """Return the text of an export."""
    if form == "json":
        writers = {"layouts": layouts_as_json, "requests": coverage_as_json}
        return writers.get(what, clauses_as_json)()
    if form == "md":
        return markdown_page(None if diagrams is None else diagrams.as_posix())
    return {"html": html_page, "lua": dissector, "ksy": kaitai}[form]()
