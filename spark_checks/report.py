"""
An audit's result as a table for people, JSON for programs, or a page to send on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spark_checks.audit import Audit

FORMATS = ("table", "json", "html")


def as_json(audits: Sequence[Audit]) -> str:
    """Return the result of one audit as an object, of several as a list of them."""
    found = [_document(audit) for audit in audits]
    wanted: Any = found[0] if len(found) == 1 else found
    return json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"


def as_html(audits: Sequence[Audit]) -> str:
    """Return a page that needs nothing beside itself."""
    environment = Environment(
        loader=PackageLoader("spark_checks"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("audit.html")
    return page.render(audits=[_document(audit) for audit in audits])


def as_table(audits: Sequence[Audit], *, width: int | None = None) -> str:
    """Return text for a terminal, without colours; *width* 100 if not given."""
    out = StringIO()
    print_tables(audits, Console(file=out, width=width or 100, highlight=False))
    return out.getvalue()


def print_tables(audits: Sequence[Audit], console: Console) -> None:
    """Print *audits* on *console*."""
    for audit in audits:
        _print_one(audit, console)


def _document(audit: Audit) -> dict[str, Any]:
    return {
        "schema": 1,
        "store": audit.store,
        "verdict": "pass" if audit.is_clean else "fail",
        "summary": dict(audit.summary),
        "violations": [finding.as_json() for finding in audit.findings],
    }


def _print_one(audit: Audit, console: Console) -> None:
    document = _document(audit)
    log = document["summary"]["commitlog"]
    console.print(Text(audit.store, style="bold"), soft_wrap=True)
    console.print(
        f"  {log['records']:,} records in {log['files']} files,"
        f" commit-log offsets {log['min_offset']} to {log['max_offset']},"
        f" {len(document['summary']['topics'])} topics,"
        f" {document['summary']['index']['entries']:,} index items",
        soft_wrap=True,
    )
    if audit.findings:
        console.print(_table(document["violations"]))
        _print_costs(document["violations"], console)
    counts = Counter(str(finding.severity) for finding in audit.findings)
    console.print(
        f"  {document['verdict']}: {counts['error']} errors,"
        f" {counts['warning']} warnings"
    )


def _table(violations: Sequence[dict[str, Any]]) -> Table:
    table = Table(show_edge=False, pad_edge=False, expand=False)
    for name in ("invariant", "severity", "file @ offset", "what", "clause"):
        table.add_column(name, overflow="fold")
    for found in violations:
        table.add_row(
            *(
                Text(text)
                for text in (
                    found["invariant"],
                    found["severity"],
                    f"{found['file']} @ {found['offset']}",
                    found["message"],
                    found["requirement"],
                )
            )
        )
    return table


def _print_costs(violations: Sequence[dict[str, Any]], console: Console) -> None:
    costs = {found["invariant"]: found["cost"] for found in violations}
    for invariant, cost in costs.items():
        console.print(Text(f"  {invariant}: {cost}"), soft_wrap=True)
