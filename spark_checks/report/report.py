"""
Output of audits as a table, JSON or an HTML page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.console import Console
from rich.text import Text

from spark_checks.audit import Audit, NotAudited
from spark_checks.report.advice import Advice, next_steps
from spark_checks.report.charts import charts_of
from spark_checks.report.fleet import not_read, print_rows, row_of
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
    """Return whole lines of text, with the styles of a terminal if *is_styled*."""
    out = StringIO()
    console = Console(file=out, force_terminal=is_styled, highlight=False)
    print_tables(audits, console)
    return out.getvalue()


def print_tables(audits: AuditResults, console: Console) -> None:
    """Print *audits* on *console*.

    Several begin with a row for each, and then are printed if they have findings.
    """
    are_many = len(audits) > 1
    if are_many:
        print_rows(_documents(audits), console)
    for audit in audits:
        if isinstance(audit, Audit) and (
            audit.findings or audit.unrequested_damage or not are_many
        ):
            _print_one(audit, console)


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


def _print_one(audit: Audit, console: Console) -> None:
    document = _document(audit)
    log = document["summary"]["commitlog"]
    console.print(Text(audit.store, style="bold"), soft_wrap=True)
    if document["headline"]:
        console.print(Text(f"  {document['headline']}", style="bold"), soft_wrap=True)
    console.print(
        f"  {number_of(log['records'], 'record')} in {number_of(log['files'], 'file')},"
        f" commit-log offsets {log['min_offset']} {_up_to(log['max_offset'])},"
        f" {number_of(len(document['summary']['topics']), 'topic')},"
        f" {number_of(document['summary']['index']['entries'], 'index item')}",
        soft_wrap=True,
    )
    if audit.sample is not None:
        _print_sample(document["sample"], console)
    if audit.is_live:
        console.print(f"  {LIVE}", soft_wrap=True)
    elif document["summary"]["left_open"]:
        console.print(f"  {LEFT_OPEN}", soft_wrap=True)
    if "survey_tasks" in document["summary"]:
        _print_tasks(document["summary"]["survey_tasks"], console)
    _print_send_backs(document["summary"]["handed_back"], console)
    if audit.against is not None:
        _print_against(audit.against, console)
    _print_groups(document["groups"], console)
    _print_first_steps(document["first_steps"], console)
    _print_steps(document["next"], console)
    row = row_of(document)
    console.print(
        f"  {row['verdict']}: {number_of(row['errors'], 'error')},"
        f" {number_of(row['warnings'], 'warning')}"
        f"{', and a harmful start' if audit.is_harmed_by_start else ''}"
    )


def _up_to(end: str | None) -> str:
    """Return the end of a log in words."""
    return "on" if end is None else f"to {end}"


def _print_sample(sample: Mapping[str, Any], console: Console) -> None:
    """Print the audited part of the log, and the unchecked invariants."""
    console.print(
        f"  a sample of the log: {len(sample['ranges'])} ranges,"
        f" {int(sample['bytes']):,} of {int(sample['of_bytes']):,} bytes"
        f" (--sample {sample['fraction']:g} --seed {sample['seed']});"
        " counts and findings cover these only",
        soft_wrap=True,
    )
    console.print(f"  not checked: {', '.join(sample['not_judged'])}", soft_wrap=True)


def _print_tasks(tasks: Mapping[str, int], console: Console) -> None:
    """Print whether workers lacked kernels, which makes an audit slow."""
    if tasks["without"]:
        lacking = f"{tasks['without']:,} of {sum(tasks.values()):,} tasks"
        reason = "without kernels: their workers lack numba or a writable cache"
        console.print(f"  {lacking} ran {reason}", soft_wrap=True)


def _print_send_backs(
    groups: Mapping[str, Mapping[str, int]], console: Console
) -> None:
    if groups:
        retries, dead = (
            sum(counts[name] for counts in groups.values())
            for name in ("retries", "dead_letters")
        )
        console.print(
            f"  {number_of(retries, 'retry', 'retries')} and"
            f" {number_of(dead, 'dead letter')} of {number_of(len(groups), 'group')}",
            soft_wrap=True,
        )


def _print_groups(groups: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print each group of findings in two lines, which fit 80 columns mostly."""
    for group in groups:
        place = f"{group['file']} @ {group['offset']}"
        more = f" and {group['count'] - 1:,} more" if group["count"] > 1 else ""
        head = f"  {group['severity']:<7}  {group['invariant']}  {place}{more}"
        console.print(Text(head), soft_wrap=True)
        console.print(Text(f"           {group['message']}"), soft_wrap=True)


def _print_first_steps(steps: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print numbered steps with their commands."""
    for number, step in enumerate(steps, 1):
        console.print(Text(f"  {number}. {step['do']}"), soft_wrap=True)
        _print_commands(step["commands"], console)


def _print_commands(commands: Sequence[str], console: Console) -> None:
    for command in commands:
        console.print(Text(f"       {command}"), soft_wrap=True)


def _print_against(against: Mapping[str, Any], console: Console) -> None:
    text = f"  against {against['store']}: {against['verdict']}. {against['says']}"
    console.print(Text(text), soft_wrap=True)
    for topic, held in against["topics"].items():
        for queue, counted in held["queues"].items():
            here, there = counted["here"]["messages"], counted["there"]["messages"]
            if here != there or counted["only_here"] or counted["only_there"]:
                console.print(
                    f"    {topic}, queue {queue}: {here} messages here, {there} there;"
                    f" only here {counted['only_here']}, only there"
                    f" {counted['only_there']}",
                    soft_wrap=True,
                    markup=False,
                )


def _print_steps(steps: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print cost and advice for each kind of finding."""
    for step in steps:
        console.print(Text(f"  {step['invariant']}: {step['cost']}"), soft_wrap=True)
        console.print(Text(f"    next: {step['do']}"), soft_wrap=True)
        _print_commands(step["commands"], console)
