"""
Output of audits as a table, JSON or an HTML page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.console import Console
from rich.text import Text

from spark_checks.audit import Audit, NotAudited
from spark_checks.report.advice import Advice, next_steps
from spark_checks.report.charts import charts_of
from spark_checks.report.fleet import lines_of, not_read, row_of
from spark_checks.report.groups import groups_of
from spark_checks.report.start_forecast import number_of

AuditResults = Sequence[Audit | NotAudited]
FORMATS = ("table", "json", "html")
LEFT_OPEN = (
    "The file abort is there: the broker was killed, or runs on another machine."
)
LIVE = (
    "A broker writes to this store. The moving ends of its files are not checked,"
    " and only errors are reported that two audits find."
)


def as_json(audits: AuditResults) -> str:
    """Return one audit as an object, several as a list."""
    found = _documents(audits)
    wanted: Any = found[0] if len(found) == 1 else found
    return json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"


def as_html(audits: AuditResults, note: str = "") -> str:
    """Return a self-contained page, which begins with a row for each of several.

    *note* is its last line.
    """
    environment = Environment(
        loader=PackageLoader("spark_checks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("audit.html")
    return page.render(
        left_open=LEFT_OPEN,
        live=LIVE,
        note=note,
        rows=[row_of(one) for one in _documents(audits)] if len(audits) > 1 else [],
        audits=[
            {
                **_document(audit),
                "number": number,
                "is_live": audit.is_live,
                "pictures": charts_of(audit),
            }
            for number, audit in enumerate(audits, 1)
            if isinstance(audit, Audit)
        ],
    )


def as_lines(audits: AuditResults) -> str:
    """Return a line for each audit: the store, the verdict, counts and the headline."""
    lines = []
    for row in map(row_of, _documents(audits)):
        errors = number_of(row["errors"], "error")
        warnings = number_of(row["warnings"], "warning")
        headline = f". {row['headline']}" if row["headline"] else ""
        lines.append(
            f"{row['store']}: {row['verdict']}, {errors}, {warnings}{headline}\n"
        )
    return "".join(lines)


def as_table(audits: AuditResults, *, is_styled: bool = False) -> str:
    """Return whole lines of text, with the styles of a terminal if *is_styled*.

    Several audits begin with a row for each, and then have a table if they have
    findings.
    """
    out = StringIO()
    console = Console(file=out, force_terminal=is_styled, highlight=False)
    are_many = len(audits) > 1
    lines = list(map(Text, lines_of(_documents(audits)))) if are_many else []
    for audit in audits:
        if isinstance(audit, Audit) and (
            audit.findings or audit.unrequested_damage or not are_many
        ):
            lines += _table(audit)
    for line in lines:
        console.print(line, soft_wrap=True)
    return out.getvalue()


def _documents(audits: AuditResults) -> list[Mapping[str, Any]]:
    return [
        _document(audit)
        if isinstance(audit, Audit)
        else not_read(audit.store, audit.reason)
        for audit in audits
    ]


def _document(audit: Audit) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if audit.sample is not None:
        parts["sample"] = audit.sample.as_json()
    if audit.against is not None:
        parts["against"] = audit.against
    if audit.forecast is not None:
        parts["forecast"] = audit.forecast.as_json()
    advice = Advice(audit=audit)
    return {
        "schema": 1,
        "store": audit.store,
        "verdict": "pass" if audit.is_clean else "fail",
        "headline": advice.headline,
        "summary": dict(audit.summary),
        **parts,
        "violations": [finding.as_json() for finding in audit.findings],
        "groups": [group.as_json() for group in groups_of(audit.findings)],
        "first_steps": [
            {"do": text, "commands": commands} for text, commands in advice.first_steps
        ],
        "next": next_steps(advice),
    }


def _table(audit: Audit) -> Iterator[Text]:
    document = _document(audit)
    yield Text(audit.store, style="bold")
    if document["headline"]:
        yield Text(f"  {document['headline']}", style="bold")
    yield from map(Text, _lines(audit, document))


def _lines(audit: Audit, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines below the headline."""
    summary = document["summary"]
    log = summary["commitlog"]
    end = "on" if log["max_offset"] is None else f"to {log['max_offset']}"
    yield (
        f"  {number_of(log['records'], 'record')} in {number_of(log['files'], 'file')},"
        f" commit-log offsets {log['min_offset']} {end},"
        f" {number_of(len(summary['topics']), 'topic')},"
        f" {number_of(summary['index']['entries'], 'index item')}"
    )
    if audit.sample is not None:
        yield from _of_sample(document["sample"])
    if audit.is_live:
        yield f"  {LIVE}"
    elif summary["left_open"]:
        yield f"  {LEFT_OPEN}"
    tasks = summary.get("survey_tasks", {"without": 0})
    if tasks["without"]:
        lacking = f"{tasks['without']:,} of {sum(tasks.values()):,} tasks"
        reason = "without kernels: their workers lack numba or a writable cache"
        yield f"  {lacking} ran {reason}"
    if summary["handed_back"]:
        yield _of_send_backs(summary["handed_back"])
    if audit.against is not None:
        yield from _of_comparison(audit.against)
    for group in document["groups"]:  # in two lines, which fit 80 columns mostly
        place = f"{group['file']} @ {group['offset']}"
        more = f" and {group['count'] - 1:,} more" if group["count"] > 1 else ""
        yield f"  {group['severity']:<7}  {group['invariant']}  {place}{more}"
        yield f"           {group['message']}"
    for number, step in enumerate(document["first_steps"], 1):
        yield f"  {number}. {step['do']}"
        yield from (f"       {command}" for command in step["commands"])
    for step in document["next"]:
        yield f"  {step['invariant']}: {step['cost']}"
        yield f"    next: {step['do']}"
        yield from (f"       {command}" for command in step["commands"])
    row = row_of(document)
    harm = ", and a harmful start" if audit.is_harmed_by_start else ""
    errors = number_of(row["errors"], "error")
    yield f"  {row['verdict']}: {errors}, {number_of(row['warnings'], 'warning')}{harm}"


def _of_sample(sample: Mapping[str, Any]) -> Iterator[str]:
    """Yield the audited part of the log, and the unchecked invariants."""
    yield (
        f"  a sample of the log: {len(sample['ranges'])} ranges,"
        f" {int(sample['bytes']):,} of {int(sample['of_bytes']):,} bytes"
        f" (--sample {sample['fraction']:g} --seed {sample['seed']});"
        " counts and findings cover these only"
    )
    yield f"  not checked: {', '.join(sample['not_judged'])}"


def _of_send_backs(groups: Mapping[str, Mapping[str, int]]) -> str:
    retries, dead = (
        sum(counts[name] for counts in groups.values())
        for name in ("retries", "dead_letters")
    )
    return (
        f"  {number_of(retries, 'retry', 'retries')} and"
        f" {number_of(dead, 'dead letter')} of {number_of(len(groups), 'group')}"
    )


def _of_comparison(against: Mapping[str, Any]) -> Iterator[str]:
    yield f"  against {against['store']}: {against['verdict']}. {against['says']}"
    for topic, held in against["topics"].items():
        for queue, counted in held["queues"].items():
            here, there = counted["here"]["messages"], counted["there"]["messages"]
            if here != there or counted["only_here"] or counted["only_there"]:
                yield (
                    f"    {topic}, queue {queue}: {here} messages here, {there} there;"
                    f" only here {counted['only_here']}, only there"
                    f" {counted['only_there']}"
                )
