"""Findings of a comparison, as lines for people and as JSON for machines."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.differential.compare import Exchange, all_different
from conformance.differential.explain import Difference
from conformance.differential.normalise import Facts
from conformance.differential.run import Finding, Outcome
from conformance.differential.undetermined import UNDETERMINED
from conformance.harness.report.report import suite_version
from spec.registry import clause as clause_of

SCHEMA = 1
FILE_NAME = "differences.json"
MOST_FACTS = 12
"""Fields of one response that a line shows."""


def lines(outcome: Outcome, *, target: str, against: str) -> Iterator[str]:
    """Yield the printed lines of *outcome*."""
    counts = outcome.counts
    yield (
        f"{target} beside {against}: {counts.programs} programs,"
        f" {sum(counts.steps.values())} requests answered by both,"
        f" {counts.facts} facts compared"
    )
    if counts.parted:
        yield (
            f"{counts.parted} programs ended early, where a difference that is foretold"
            " or a request that one refuses left the two in different states"
        )
    for name, refused in zip((target, against), counts.refused, strict=True):
        if refused:
            yield f"not compared, refused by {name}: {', '.join(sorted(refused))}"
    for one, times in counts.explained.most_common():
        step, difference = counts.examples[one]
        yield f"explained {times} times by {', '.join(one.clauses)}"
        for name in one.clauses:
            yield f"    {clause_of(name).text}"
        yield f"    as in: {step}: {_summary(difference, target, against)}"
    for number, finding in enumerate(outcome.findings, 1):
        yield ""
        yield from finding_lines(finding, number, target=target, against=against)
    found = len(outcome.findings)
    verdict = f"{found} differences that nothing explains" if found else "no difference"
    if not outcome.has_verdict:
        verdict = "no verdict: no request behind the first two was compared"
        if not counts.successes:
            verdict = "no verdict: no request succeeded on either target"
        if counts.always_busy:
            verdict = f"no verdict: always busy for {', '.join(counts.always_busy)}"
    yield f"{verdict} (seed {outcome.seed}, {outcome.examples} programs)"


def finding_lines(
    finding: Finding, number: int, *, target: str, against: str
) -> Iterator[str]:
    """Yield one finding: the smallest program, with both answers to each request."""
    exchanges = finding.program_run.exchanges
    difference = finding.program_run.difference
    assert difference is not None
    summary = _summary(difference, target, against)
    yield f"finding {number}: {difference.where}: {summary}"
    yield f"  seen in a program of {finding.found_in} requests; the smallest:"
    if not finding.again:
        yield "  (not seen again when this program was run once more)"
    wide = max(len(target), len(against), 4)
    for index, exchange in enumerate(exchanges, 1):
        mark = "✗" if exchange is exchanges[-1] else " "
        yield f"  {mark} {index:>2}  {exchange.step}"
        for name, text in _responses(exchange, target, against):
            yield f"          {name:<{wide}}  {text}"
    for one in all_different(exchanges[-1]):
        yield f"      ✗ {one.path}"
        yield f"          {target:<{wide}}  {one.target}"
        yield f"          {against:<{wide}}  {one.against}"


def report_of(
    outcome: Outcome, *, target: str, against: str, command: str
) -> dict[str, object]:
    """Return *outcome* as JSON values."""
    counts = outcome.counts
    return {
        "schema": SCHEMA,
        "suite_version": suite_version(),
        "command": command,
        "target": {"text": target, "release": outcome.releases[0]},
        "against": {"text": against, "release": outcome.releases[1]},
        "seed": outcome.seed,
        "examples": outcome.examples,
        "programs": counts.programs,
        "programs_parted": counts.parted,
        "requests": dict(counts.steps),
        "facts": counts.facts,
        "refused": {
            "target": sorted(counts.refused[0]),
            "against": sorted(counts.refused[1]),
        },
        "undetermined": [
            {"paths": list(one.paths), "reason": one.reason} for one in UNDETERMINED
        ],
        "explained": [
            {
                "clauses": list(one.clauses),
                "count": times,
                "request": str(counts.examples[one][0]),
                "difference": _difference(counts.examples[one][1]),
            }
            for one, times in counts.explained.most_common()
        ],
        "findings": [_finding(one) for one in outcome.findings],
    }


def _finding(finding: Finding) -> dict[str, object]:
    assert finding.program_run.difference is not None
    return {
        "difference": _difference(finding.program_run.difference),
        "found_in": finding.found_in,
        "again": finding.again,
        "program": [
            {
                "request": str(one.step),
                "target": one.target,
                "against": one.against,
            }
            for one in finding.program_run.exchanges
        ],
    }


def _difference(one: Difference) -> dict[str, str]:
    return {"where": one.where, "target": one.target, "against": one.against}


def _summary(one: Difference, target: str, against: str) -> str:
    return f"{one.target} of {target}, {one.against} of {against}"


def _responses(
    exchange: Exchange, target: str, against: str
) -> Iterator[tuple[str, str]]:
    """Yield the response of each, in one line if they are equal."""
    some, other = summary(exchange.target), summary(exchange.against)
    if some == other:
        yield "both", some
    else:
        yield target, some
        yield against, other


def summary(facts: Facts) -> str:
    """Return a response in one line: its code, its fields, its body."""
    rest = [
        f"{path.removeprefix('fields.')}={text}"
        for path, text in facts.items()
        if path not in ("code", "remark") and text not in ("~", "'")
    ]
    more = f" ... {len(rest) - MOST_FACTS} more" if len(rest) > MOST_FACTS else ""
    return " ".join([facts["code"], *rest[:MOST_FACTS]]) + more
