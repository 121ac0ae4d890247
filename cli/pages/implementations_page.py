"""
The page docs/implementations.md: families of clauses on implementations and releases.

``rmqc report implementations -o docs/implementations.md`` writes it from the recorded
runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages.rendering import markdown_cell
from conformance.targets.implementations.record import Implementation
from spec.registry import all_clauses

_HEAD = """\
# Implementations, by family of clauses

Each recorded run of the suites has a row here and a column below. Runs on
Apache's releases are in `spec/evidence`, all others in
`conformance/targets/implementations`. This page is written by

    rmqc report implementations -o docs/implementations.md

`--take NAME REPORT` records the `report.json` of a run first. A clause that is *known*
fails, and the target's file of known failures has the reason.
"""
UNMET = (Outcome.FAIL, Outcome.KNOWN, Outcome.ERROR)


def page(runs: Sequence[Implementation]) -> str:
    """Return the page that shows *runs*, in their order."""
    blocks = [_HEAD, _lines(_totals(runs)), "## By family\n", _FAMILIES]
    blocks.append(_lines(_families(runs)))
    for one in runs:
        if unmet := list(_unmet(one)):
            blocks += [f"## {one.name}: clauses that it does not meet\n", _lines(unmet)]
    return "\n".join(blocks)


_FAMILIES = """\
Clauses that an implementation meets, of those that apply to its profile. The others
fail, are blocked or are unsupported.
"""


def _lines(lines: Iterator[str] | Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def _totals(runs: Sequence[Implementation]) -> Iterator[str]:
    outcomes = [one.value for one in Outcome]
    heads = "implementation", "profile", "date", "suite", *outcomes, "command"
    yield f"| {' | '.join(heads)} |"
    yield "|---|---|---|---|" + "--:|" * len(outcomes) + "---|"
    for one in runs:
        counts = " | ".join(str(one.totals[name]) for name in outcomes)
        about = f"{one.name} | {one.profile} | {one.recorded} | {one.suite_version}"
        yield f"| {about} | {counts} | `{one.command}` |"


def _families(runs: Sequence[Implementation]) -> Iterator[str]:
    yield f"| family | {' | '.join(one.name for one in runs)} |"
    yield "|---|" + "--:|" * len(runs)
    for family, ids in groupby(all_clauses(), lambda name: name.rpartition("-")[0]):
        names = list(ids)
        cells = [_cell(one, names) for one in runs]
        if any(cells):
            yield f"| {family} | {' | '.join(cells)} |"


def _cell(run: Implementation, clauses: Sequence[str]) -> str:
    """Return "met/applicable" of the *clauses* in *run*; empty if none applies."""
    seen = Counter(run.outcomes.get(name, "") for name in clauses)
    applicable = seen.total() - seen[Outcome.NOT_APPLICABLE] - seen[""]
    return f"{seen[Outcome.PASS]}/{applicable}" if applicable else ""


def _unmet(run: Implementation) -> Iterator[str]:
    for name, outcome in sorted(run.outcomes.items()):
        if outcome in UNMET:
            clause, reason = all_clauses()[name], run.reasons.get(name, "")
            text = f"{clause.text} {outcome.capitalize()}: {reason}"
            yield f"- **{name}** ({clause.level.value}): {markdown_cell(text)}"
