"""
``rmqc spec headers`` and ``rmqc spec evolution``: the header tables of the releases.

The first shows the fields of each request and response, with the releases that have
them. The second reports changes of newer releases that break older peers.
"""

from __future__ import annotations

import json
import sys
import tomllib
from functools import cache
from pathlib import Path

import click

from cli.options.common import format_option
from cli.options.exit_codes import FINDINGS, SUCCESS
from cli.options.output import out_option, write_result
from cli.options.releases import Release, release_option
from cli.options.selection import unknown_name
from cli.pages.header_pages import as_json, as_markdown, bodies_as_markdown
from cli.pages.header_text import as_text
from conformance.harness.report.terminal.line_width import wrapped
from spec.clause import release_key
from spec.wire.headers.evolution import changes, history_of_changes
from spec.wire.headers.header_history import CodeHistory, History, merge
from spec.wire.headers.header_rules import Finding
from spec.wire.headers.header_table import HeaderTable, read_table

FOLDER = Path(__file__).parents[2] / "fixtures" / "headers"
"""One table a release, and the known findings."""

Known = dict[str, str]


@cache
def header_tables() -> dict[str, HeaderTable]:
    """Return the tables of all studied releases, the oldest first."""
    files = FOLDER.glob("[0-9]*.json")
    read = [read_table(json.loads(one.read_text(encoding="utf-8"))) for one in files]
    read.sort(key=lambda one: release_key(one.release))
    return {one.release: one for one in read}


def known_findings() -> list[Known]:
    """Return the findings that a public issue or a document describes."""
    text = (FOLDER / "known.toml").read_text(encoding="utf-8")
    found: list[Known] = tomllib.loads(text)["finding"]
    return found


def _studied() -> list[str]:
    return list(header_tables())


@click.command()
@click.argument("wanted", metavar="[CODE|NAME]", required=False)
@release_option("Only the declarations of this release, as 4.6.", among=_studied)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "json"]),
    help="By default text on a terminal for one CODE or NAME, else md.",
)
@out_option()
def headers(
    wanted: str | None, release: str | None, form: str | None, out: Path | None
) -> None:
    """Show the fields of request and response headers, and bodies.

    CODE or NAME selects one request, one header class, or one class of a body. Bodies
    are recorded ones of a real release, or the members that the specification declares.
    """
    tables = [header_tables()[release]] if release else header_tables().values()
    history = merge(tables)
    if wanted:
        history = narrowed(history, wanted)
    is_screen = bool(wanted) and out is None and sys.stdout.isatty()
    write_result(_written(history, form or ("text" if is_screen else "md")), out)


def _written(history: History, form: str) -> str:
    """Return *history* in a format; the page of all requests is without bodies."""
    if form == "json":
        return as_json(history)
    if form == "text":
        return as_text(history)
    is_page = bool(history.responses)
    return as_markdown(history) + ("" if is_page else bodies_as_markdown(history))


def narrowed(history: History, wanted: str) -> History:
    """Return the part of *history* about a request, by code or name, or a header."""
    request = history.find(wanted)
    names = {name for name in history.headers if name.lower() == wanted.lower()}
    requests = tuple(
        one
        for one in history.requests
        if one.header_names & names or wanted.lower() in _bodies_of(one)
    )
    if request is not None:
        names, requests = request.header_names, (request,)
    if not names and not requests:
        known = [*(one.name for one in history.requests), *history.headers]
        raise click.UsageError(unknown_name(wanted, known, "request, header or body"))
    return History(
        studied=history.studied,
        requests=requests,
        responses=(),
        headers={name: one for name, one in history.headers.items() if name in names},
    )


def _bodies_of(request: CodeHistory) -> set[str]:
    """Return the names of the bodies of *request* and its response, in lower case."""
    return {
        name.lower()
        for _, version in request.versions
        for name in (*version.bodies, *version.response_bodies)
    }


@click.command()
@click.option(
    "--from",
    "old",
    type=Release(_studied),
    metavar="RELEASE",
    help="The older release; the oldest studied by default.",
)
@click.option(
    "--to",
    "new",
    type=Release(_studied),
    metavar="RELEASE",
    help="The newer release; the newest studied by default.",
)
@format_option(("text", "json"))
@click.pass_context
def evolution(ctx: click.Context, old: str | None, new: str | None, form: str) -> None:
    """Report changes of newer releases that break older peers.

    With both --from and --to the two are compared; otherwise each release is compared
    with the one studied before it. The exit code is 1 when there are findings.
    """
    if old and new:
        found = changes(header_tables()[old], header_tables()[new])
    else:
        first = release_key(old) if old else ()
        last = release_key(new) if new else (10**6,)
        found = history_of_changes(
            table
            for release, table in header_tables().items()
            if first <= release_key(release) <= last
        )
    _print_findings(found, form)
    ctx.exit(FINDINGS if found else SUCCESS)


def _print_findings(found: list[Finding], form: str) -> None:
    if form == "json":
        shown = [_finding(one) for one in found]
        click.echo(json.dumps(shown, indent=1, ensure_ascii=False))
        return
    for one in found:
        click.echo(wrapped(f"{one.old} → {one.new}  {one.rule.id}  {one.subject}"))
        carried = f" ({', '.join(one.codes)})" if one.codes else ""
        click.echo(wrapped(f"    {one.text}{carried}"))
        for known in _known(one):
            click.echo(wrapped(f"    known: {': '.join(known)}"))
    rules = {one.rule.id: one.rule.text for one in found}
    for rule_id, text in sorted(rules.items()):
        click.echo(wrapped(f"{rule_id}  {text}", len(rule_id) + 2))
    click.echo(f"{len(found)} findings" if found else "no findings")


def _known(one: Finding) -> list[list[str]]:
    """Return issue and sentence of each entry that is about the finding."""
    return [
        [known[part] for part in ("issue", "says") if part in known]
        for known in known_findings()
        if is_about(known, one)
    ]


def is_about(known: Known, one: Finding) -> bool:
    """Return whether an entry of the known findings means this one."""
    return (known["rule"], known["subject"]) == (one.rule.id, one.subject)


def _finding(one: Finding) -> dict[str, object]:
    return {
        "rule": one.rule.id,
        "subject": one.subject,
        "from": one.old,
        "to": one.new,
        "text": one.text,
        "requests": list(one.codes),
        "known": [": ".join(known) for known in _known(one)],
    }
