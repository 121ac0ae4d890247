"""
``rmqc spec families``, ``search`` and ``diff``: the clauses of a subject or a change.

The first lists areas and families. The second finds clauses by the words of their ids,
sentences and notes. The third lists those that begin or end between two profiles.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import click

from cli.options.exit_codes import WrongValueError
from cli.options.releases import Release, release_option
from cli.options.suites.areas import AREAS, area_of, family_of
from cli.options.suites.clause_selection import listed
from cli.options.suites.completions import chosen_clauses
from cli.options.suites.run_options import LEVEL
from cli.pages.profiles_page import requests_of
from conformance.harness.report.terminal.line_width import wrapped
from spec.clause import Clause
from spec.registry import all_clauses

_WORD = re.compile(r"[\w%#./-]+")


@click.command()
def families() -> None:
    """List the areas of clauses, with their number of clauses and their families."""
    for area, title in AREAS.items():
        own = [family_of(one) for one in all_clauses().values() if area_of(one) == area]
        row = f"{area + '-*':<10} {title} ({len(own)}): "
        names = ", ".join(f"{name}-*" for name in dict.fromkeys(own))
        click.echo(wrapped(row + names, 11))


@click.command()
@click.argument("words", metavar="WORD...", nargs=-1, required=True)
@click.option(
    "--only",
    metavar="ID,FAMILY-*",
    shell_complete=chosen_clauses,
    help="Only these clauses.",
)
@LEVEL
@release_option("Only the clauses that apply to this release, as 4.6.")
def search(
    words: tuple[str, ...], only: str | None, level: str | None, release: str | None
) -> None:
    """Find the clauses that contain all WORDs, in any letter case.

    Id, title of the area, sentence, source, issues and hints are searched. A WORD may
    be a part of a word, or a pattern of a whole one such as trans*.
    """
    found = [
        one
        for one in listed((only,) if only else (), level, release)
        if all(_contains(one, word) for word in words)
    ]
    if not found:
        raise WrongValueError(f"no clause contains {' and '.join(words)}")
    echo_clauses(found)


def echo_clauses(clauses: list[Clause], mark: str = "") -> None:
    """Print id, level and sentence of each clause, after a *mark*."""
    for one in clauses:
        row = f"{mark}{one.id:<26} {one.level:<6} "
        click.echo(wrapped(row + one.text, len(row)))


def _contains(one: Clause, word: str) -> bool:
    text = _searched_text(one)
    if set("*?[") & set(word):
        return any(fnmatchcase(found, word.lower()) for found in _WORD.findall(text))
    return word.lower() in text


def _searched_text(one: Clause) -> str:
    hints = (part for hint in one.hints for part in hint)
    parts = (one.text, one.source, *one.issues, one.untestable or "", *hints)
    return "\n".join((one.id, AREAS[area_of(one)], *parts)).lower()


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
