"""
Completions of values of the command line: suites, clauses, targets.

A comma list is completed after its last comma. Each function imports its own modules,
because a shell runs the program at every Tab.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    import click

Offers = list[CompletionItem]


def _offers(words: Mapping[str, str], begun: str) -> Offers:
    """Return those of *words*, each with its help, that start with *begun*."""
    fitting = {word: text for word, text in words.items() if word.startswith(begun)}
    return [CompletionItem(word, help=text) for word, text in fitting.items()]


def _listed(words: Mapping[str, str], begun: str) -> Offers:
    """Return the completions after the last comma of *begun*, each only once."""
    before, comma, last = begun.rpartition(",")
    taken = before.split(",")
    free = {word: text for word, text in words.items() if word not in taken}
    found = _offers(free, last)
    return [CompletionItem(before + comma + one.value, help=one.help) for one in found]


def suites(_: click.Context, __: click.Parameter, incomplete: str) -> Offers:
    """Offer suites."""
    from conformance.harness.pytest_plugin.options import SUITES

    return _listed(dict.fromkeys(SUITES, ""), incomplete)


def levels(_: click.Context, __: click.Parameter, incomplete: str) -> Offers:
    """Offer levels of clauses."""
    from spec.clause import Level

    return _listed(dict.fromkeys(Level, ""), incomplete.upper())


def chosen_clauses(_: click.Context, __: click.Parameter, incomplete: str) -> Offers:
    """Offer clauses, and the families that they belong to."""
    families = {f"{name.rpartition('-')[0]}-*": "" for name in _clauses()}
    return _listed({**families, **_clauses()}, incomplete.upper())


def profiles(_: click.Context, __: click.Parameter, incomplete: str) -> Offers:
    """Offer the releases that are studied."""
    from conformance.harness.releases import PINNED

    return _offers(dict.fromkeys(PINNED, ""), incomplete)


def targets(_: click.Context, __: click.Parameter, incomplete: str) -> Offers:
    """Offer the kinds of targets; after a kind, its targets."""
    from conformance.harness.releases import PINNED
    from conformance.harness.targets.target import KINDS

    kind, colon, rest = incomplete.partition(":")
    if not colon:
        return _offers({f"{name}:": "" for name in KINDS}, kind)
    words: dict[str, str] = {}
    if kind == "jvm":
        words = dict.fromkeys(PINNED, "")
    elif kind.endswith("mutant"):
        from conformance.mutants.mutant import all_mutants

        words = {
            name: one.description
            for name, one in all_mutants().items()
            if one.target.startswith(incomplete)
        }
    elif kind in {"cmd", "store"}:
        words = dict.fromkeys(_paths(rest, files=kind == "cmd"), "")
    return _offers({f"{kind}:{word}": text for word, text in words.items()}, incomplete)


def _clauses() -> dict[str, str]:
    from spec.registry import all_clauses

    return {one.id: one.text for one in all_clauses().values()}


def _paths(begun: str, *, files: bool) -> Iterator[str]:
    """Yield the folders that continue *begun*, and the TOML files if *files*."""
    folder = begun[: begun.rfind("/") + 1]
    try:
        found = sorted(Path(folder or ".").iterdir())
    except OSError:
        return
    for path in found:
        if path.is_dir():
            yield f"{folder}{path.name}/"
        elif files and path.suffix == ".toml":
            yield f"{folder}{path.name}"
