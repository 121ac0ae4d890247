"""
Page docs/mutants.md: every seeded fault, its clauses, and their outcomes.

``rmqc report mutants -o docs/mutants.md`` runs mutants without a recorded kill, and
writes the page of the catalogue and the recorded rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from conformance.harness.report.pages.rendering import markdown_cell
from conformance.mutants.kill_record import Row, without_kill
from conformance.mutants.mutant import Mutant
from conformance.mutants.texts import golden_names

KILLED, SURVIVES, STALE, MISSING = "killed", "survives", "edited since", "not run"

_HEAD = """\
# The kill matrix

A suite that has never failed proves nothing. Each mutant is the reference with one
seeded fault, a textual edit (see [why](decisions/0003-mutants-are-textual-edits.md)).
The tests of the clauses about the edited code run on it. A mutant is killed when
*every* one of these clauses fails. For each shape of failure, the text of one
mutant is kept; its `killed` links to the text. This page is written by

    rmqc report mutants -o docs/mutants.md

from the rows that are recorded in `fixtures/mutants/kills.json`. Mutants without a row,
edited since, or alive are run first. `tox -e mutants` runs all of them, and the
reference itself, and fails where one survives or its golden text differs.

Most are brokers and name servers: the target `mutant:ID`. Those of
`reference/core/client` are clients, `client-mutant:ID`; the
[suite for clients](client_adapter.md) detects them.
"""


def page(faults: Mapping[str, Mutant], rows: Mapping[str, Row]) -> str:
    """Return the page of *faults* with the outcomes in *rows*."""
    blocks = [_HEAD, _summary(faults, rows)]
    blocks += ["\n".join(_totals(faults, rows)) + "\n"]
    for package, faults_of_package in _by_package(faults).items():
        blocks += [f"## {package}\n", "\n".join(_table(faults_of_package, rows)) + "\n"]
    return "\n".join(blocks)


def package_of(file: str) -> str:
    """Return the package that *file* belongs to: spec/wire, reference/core/broker."""
    folders = PurePosixPath(file).parent.parts
    return "/".join(folders[: 2 if folders[0] == "spec" else 3])


def verdict(fault: Mutant, row: Row | None) -> str:
    """Return in a few words what the recorded run showed of *fault*."""
    if row is None:
        return f"**{MISSING}**"
    if not row.is_of(fault):
        return f"**{STALE}**"
    if row.missed:
        outcomes = ", ".join(f"{name}: {row.outcomes[name]}" for name in row.missed)
        return f"**{SURVIVES}** ({outcomes})"
    if fault.id in golden_names():
        return f"[{KILLED}](../fixtures/failures/mutants/{fault.id}.txt)"
    return KILLED


def _summary(faults: Mapping[str, Mutant], rows: Mapping[str, Row]) -> str:
    alive = without_kill(faults, rows)
    named = sum(bool(one.issues) for one in faults.values())
    issues = {issue for one in faults.values() for issue in one.issues}
    counts = (
        f"{len(faults)} mutants, {named} of them after reports of real"
        f" implementations ({len(issues)} issues)."
    )
    if not alive:
        return f"{counts} 100 % are killed.\n"
    share = 100 * (len(faults) - len(alive)) // len(faults)
    listed = ", ".join(f"`{name}`" for name in alive)
    return f"{counts} {share} % are killed; not shown to be: {listed}.\n"


def _totals(faults: Mapping[str, Mutant], rows: Mapping[str, Row]) -> Iterator[str]:
    yield "| package | mutants | killed | after issues | clauses |"
    yield "|---|---|---|---|---|"
    for package, of_package in _by_package(faults).items():
        link = f"[{package}](#{package.replace('/', '')})"
        yield f"| {link} | {_counts(of_package, rows)} |"
    yield f"| **all** | {_counts(list(faults.values()), rows)} |"


def _counts(faults: Sequence[Mutant], rows: Mapping[str, Row]) -> str:
    alive = without_kill({one.id: one for one in faults}, rows)
    named = sum(bool(one.issues) for one in faults)
    clauses = {name for one in faults for name in one.caught_by}
    counts = (len(faults), len(faults) - len(alive), named, len(clauses))
    return " | ".join(map(str, counts))


def _table(faults: Sequence[Mutant], rows: Mapping[str, Row]) -> Iterator[str]:
    yield "| mutant | what is wrong | file | clauses that own it | verdict | issues |"
    yield "|---|---|---|---|---|---|"
    for one in faults:
        name = PurePosixPath(one.file).name
        cells = (
            f"[{one.id}](../conformance/mutants/{one.id}.toml)",
            markdown_cell(one.description),
            f"[{name}](../{one.file})",
            ", ".join(one.caught_by),
            verdict(one, rows.get(one.id)),
            ", ".join(map(issue_link, one.issues)),
        )
        yield f"| {' | '.join(cells)} |"


def issue_link(issue: str) -> str:
    """Return the link to *issue*, which is written as owner/name#number."""
    repository, _, number = issue.partition("#")
    return f"[{issue}](https://github.com/{repository}/issues/{number})"


def _by_package(faults: Mapping[str, Mutant]) -> dict[str, list[Mutant]]:
    """Return the mutants of each package, spec before the reference."""
    found = {package_of(one.file) for one in faults.values()}
    packages = sorted(found, key=_spec_first)
    return {
        package: [one for one in faults.values() if package_of(one.file) == package]
        for package in packages
    }


def _spec_first(package: str) -> tuple[bool, str]:
    return not package.startswith("spec"), package
