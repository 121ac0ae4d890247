"""
``rmqc spec``: the clauses of the specification, listed, shown and exported.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import click

from cli.clause_tests import clause_tests
from spec.clause import Clause
from spec.derive.table import rows
from spec.layouts import LAYOUTS
from spec.observed import evidence_line, evidence_of
from spec.registry import UnknownClauseError, all_clauses, clause

ROOT = Path(__file__).parents[1]


@click.group()
def spec() -> None:
    """List, show and export the clauses of the specification."""


@spec.command("list")
@click.option("--room", help="Only the clauses whose ids begin with this.")
@click.option("--release", help="Only the clauses that hold for this release.")
def list_(room: str | None, release: str | None) -> None:
    """List id, level and sentence of every clause."""
    for one in all_clauses().values():
        if room and not one.id.startswith(room.upper()):
            continue
        if release and not _applies(one, release):
            continue
        click.echo(f"{one.id:<26} {one.level:<6} {one.text}")


def _applies(one: Clause, release: str) -> bool:
    try:
        return one.applies_to(release)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


@spec.command()
@click.argument("clause_id", metavar="ID")
def show(clause_id: str) -> None:
    """Show everything about the clause ID."""
    try:
        one = clause(clause_id.upper())
    except UnknownClauseError as error:
        raise click.UsageError(str(error.args[0])) from error
    shown = {
        "releases": _releases(one),
        "source": one.source,
        "issues": ", ".join(one.issues),
        "untestable": one.untestable or "",
        "tests": "\n           ".join(clause_tests(ROOT).get(one.id, [])),
        "evidence": ", ".join(f"{k} {v}" for k, v in evidence_of(one.id).items()),
    }
    click.echo(f"{one.id} ({one.level})\n\n  {one.text}\n")
    for name, value in shown.items():
        if value:
            click.echo(f"{name:<10} {value}")
    for found, cause in one.hints:
        click.echo(f"hint       {found}: {cause}")


def _releases(one: Clause) -> str:
    return f"{one.since} to {one.until}" if one.until else f"since {one.since}"


@spec.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json"]),
    required=True,
    help="To what.",
)
@click.option("--out", type=click.Path(dir_okay=False), help="Into this file.")
def export(form: str, out: str | None) -> None:
    """Export all clauses, with the tests that ask for them and what was observed."""
    text = as_json() if form == "json" else as_markdown()
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"{out}: {error.strerror}") from error


def as_json() -> str:
    """Return every clause as JSON, one object a clause, in the order of the ids."""
    tests = clause_tests(ROOT)
    exported = [
        {
            "id": one.id,
            "level": str(one.level),
            "since": one.since,
            "until": one.until,
            "text": one.text,
            "source": one.source,
            "issues": list(one.issues),
            "untestable": one.untestable,
            "tests": tests.get(one.id, []),
            "evidence": evidence_of(one.id),
        }
        for one in all_clauses().values()
    ]
    return json.dumps(exported, indent=1, ensure_ascii=False) + "\n"


def as_markdown() -> str:
    """Return every clause and every layout as tables of a Markdown page."""
    tests = clause_tests(ROOT)
    lines = ["# Clauses", ""]
    for room, clauses in groupby(all_clauses().values(), key=_room):
        lines += [f"## {room}", "", "| id | level | releases | clause | tests | seen |"]
        lines += ["|---|---|---|---|---|---|"]
        for one in clauses:
            count = len(tests.get(one.id, []))
            asked = str(count) if count or not one.untestable else one.untestable
            text = f"{one.text}<br>`{one.source}`".replace("|", "\\|")
            lines.append(
                f"| {one.id} | {one.level} | {_releases(one)} | {text} | {asked} |"
                f" {evidence_line(one.id)} |"
            )
        lines.append("")
    return "\n".join([*lines, *_layout_tables()]) + "\n"


def _room(one: Clause) -> str:
    return one.id.rsplit("-", 1)[0]


def _layout_tables() -> list[str]:
    lines = ["# Layouts", ""]
    for name, layout in LAYOUTS.items():
        lines += [
            f"## {name}",
            "",
            "| at | bytes | field | meaning |",
            "|---|---|---|---|",
        ]
        for row in rows(layout):
            cells = (row.place, row.size, row.name, row.meaning)
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return lines
