"""``rmqc spec diff``: the clauses that begin or end between two profiles."""

from __future__ import annotations

import click

from cli.exports.clause_search import echo_clauses
from cli.options.releases import Release
from cli.options.suites.clause_selection import listed
from cli.options.suites.completions import chosen_clauses
from cli.options.suites.run_options import LEVEL
from cli.pages.profiles_page import requests_of
from conformance.harness.report.terminal.line_width import wrapped


@click.command()
@click.argument("before", metavar="BEFORE", type=Release())
@click.argument("now", metavar="NOW", type=Release())
@click.argument(
    "selection", metavar="[ID,FAMILY-*]...", nargs=-1, shell_complete=chosen_clauses
)
@LEVEL
def diff(before: str, now: str, selection: tuple[str, ...], level: str | None) -> None:
    """Compare the clauses of two profiles, such as 4.6 and 5.3.

    A line with - is a clause of BEFORE alone, and one with + a clause of NOW alone.
    Both of one family are usually a changed behaviour. Other clauses apply to both.
    """
    ended, begun = 0, 0
    for one in listed(selection, level):
        was, is_now = one.applies_to(before), one.applies_to(now)
        if was == is_now:
            continue
        echo_clauses([one], "- " if was else "+ ")
        ended, begun = ended + was, begun + is_now
    click.echo(f"{before} → {now}: {ended} clauses end, {begun} begin")
    if not selection and not level:
        _echo_requests(before, now)


def _echo_requests(before: str, now: str) -> None:
    had, has = set(requests_of(before)), set(requests_of(now))
    for title, codes in (("removed", had - has), ("added", has - had)):
        if codes:
            names = ", ".join(f"{one.name} ({one:d})" for one in sorted(codes))
            click.echo(wrapped(f"requests {title} ({len(codes)}): {names}"))
