"""
Results of mutations: detected by a clause, or survived.

The clause is the *right* one if it is about the changed request. ``families.toml`` has
the families of clauses for each request code, ``docs/coverage`` has single clauses.
``survivors.toml`` has the mutations that no test needs to detect, each with a reason
and the source in a release.

A mutation *breaks a client* if a client of a release sends or receives the request. No
reason may show that the peer ignores the changed value.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from conformance.harness.report.causes import BLOCKER
from conformance.harness.targets.started.embedded import SOURCES
from conformance.mutating_proxy.declared_fields import is_of_client
from conformance.mutating_proxy.mutation import FrameKind, Mutation
from conformance.mutating_proxy.session import DETECTED, Result
from spec.wire.remoting.request_code import request_name

HERE = Path(__file__).parent
FAMILIES, SURVIVORS = HERE / "families.toml", HERE / "survivors.toml"
COVERAGE = SOURCES / "fixtures" / "headers" / "requests.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """Mutations that no test needs to detect."""

    mutations: Sequence[str]
    """Patterns of their names."""
    reason: str
    source: str
    """Class and symbol of a release that show the reason."""
    but: Sequence[str] = ()
    """Patterns of exceptions."""

    def covers(self, mutation: Mutation) -> bool:
        """Return whether *mutation* may survive for this reason."""
        return _matches(mutation, self.mutations) and not _matches(mutation, self.but)


def mutation_of(result: Result) -> Mutation:
    """Return the mutation of *result*."""
    assert result.mutation is not None
    frame_kind, code, place, change = result.mutation
    return Mutation(FrameKind(frame_kind), code, place, change)


def was_shown(result: Result) -> bool:
    """Return whether a test met the mutation."""
    return any(run.count for run in result.runs)


def detecting_clause(result: Result) -> str:
    """Return the first clause that detected the mutation; empty for a survivor.

    A blocked test names the clause that blocks it.
    """
    for run in result.runs:
        if run.count and run.outcome in DETECTED:
            named = BLOCKER.match(run.found)
            charged = [named[1]] if named else [*run.blamed, *run.clauses]
            return next(iter(charged), "?")
    return ""


def is_right(mutation: Mutation, clause: str) -> bool:
    """Return whether *clause* is about the request of *mutation*."""
    if clause in _covering_clauses().get(mutation.code, ()):
        return True
    about = families()
    wanted = [*about.get(request_name(mutation.code), ()), *about["ANY"]]
    if mutation.frame_kind is FrameKind.RESTARTED:
        wanted += about["RESTARTED"]
    return clause.rpartition("-")[0] in wanted or clause.split("-")[0] in wanted


def reason_of(mutation: Mutation) -> str:
    """Return the reason why *mutation* may survive; empty without one."""
    for one in survivors():
        if one.covers(mutation):
            return one.reason
    return ""


def unexplained(results: Iterable[Result]) -> list[Mutation]:
    """Return the survivors without a reason."""
    missed = [one for one in results if was_shown(one) and not detecting_clause(one)]
    return sorted(
        mutation for mutation in map(mutation_of, missed) if not reason_of(mutation)
    )


def breaks_client(mutation: Mutation) -> bool:
    """Return whether a client depends on the value that *mutation* changes."""
    return is_of_client(mutation.code) and not reason_of(mutation)


def report_lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield a line for each mutation, the totals, and the three shares."""
    counts: Counter[str] = Counter()
    shown = [one for one in results if was_shown(one)]
    for result in sorted(shown, key=mutation_of):
        mutation, clause = mutation_of(result), detecting_clause(result)
        counts["mutations"] += 1
        if clause:
            counts["detected"] += 1
            is_first = is_right(mutation, clause)
            counts["by a clause about the request"] += is_first
            counts["unsteady"] += not result.is_steady
            yield f"detected  {mutation}  {clause}{'' if is_first else ' (other)'}"
        else:
            reason = reason_of(mutation)
            counts["survivors with a reason"] += bool(reason)
            counts["survivors without one"] += not reason
            yield f"SURVIVED  {mutation}  {reason}"
    yield ", ".join(f"{count} {name}" for name, count in counts.items())
    yield from shares(shown)


def shares(shown: Sequence[Result]) -> Iterator[str]:
    """Yield the shares of *shown* results that the goals are about."""
    clauses = {mutation_of(one): detecting_clause(one) for one in shown}
    first = [is_right(one, clause) for one, clause in clauses.items() if clause]
    explained = [bool(clause or reason_of(one)) for one, clause in clauses.items()]
    breaking = [bool(clause) for one, clause in clauses.items() if breaks_client(one)]
    yield f"{_share(explained)} are detected or have a reason"
    yield f"{_share(breaking)} that break a client are detected"
    yield f"{_share(first)} are first detected by a clause about the request"


def _share(truths: Sequence[bool]) -> str:
    count = len(truths)
    return f"{sum(truths)} of {count} ({sum(truths) / (count or 1):.1%})"


@cache
def families() -> dict[str, list[str]]:
    """Return the families of clauses by name of the request code."""
    return tomllib.loads(FAMILIES.read_text())


@cache
def _covering_clauses() -> dict[int, list[str]]:
    """Return the clauses about each request code."""
    rows = tomllib.loads(COVERAGE.read_text())["request"]
    return {row["code"]: row.get("clauses", []) for row in rows}


@cache
def survivors() -> list[Survivor]:
    """Return the mutations that may survive."""
    return [Survivor(**one) for one in tomllib.loads(SURVIVORS.read_text())["survivor"]]


def _matches(mutation: Mutation, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(str(mutation), pattern) for pattern in patterns)
