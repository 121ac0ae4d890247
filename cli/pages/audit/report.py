"""Output of audits as a table, JSON or an HTML page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from click import style
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cli.pages.audit.advice import TEXTS, Advice, next_steps
from cli.pages.audit.audited_store import AuditedStore
from cli.pages.audit.charts import charts_of
from cli.pages.audit.groups import groups_of
from cli.pages.audit.start_forecast import number_of
from spark_checks.audit import Audit, NotAudited
from spec.printable import printable

AuditResults = Sequence[AuditedStore | NotAudited]


def as_json(audits: AuditResults) -> str:
    """Return one audit as an object, several as a list."""
    found = list(map(_document, audits))
    wanted: Any = found[0] if len(found) == 1 else found
    return json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"


def as_html(audits: AuditResults, note: str = "") -> str:
    """Return a self-contained page, which begins with a row for each of several.

    *note* is its last line.
    """
    return _rendered("audit.html", audits, lambda _: True, note=note)


def as_lines(audits: AuditResults) -> str:
    """Return a line for each audit: the store, the verdict, counts and the headline."""
    lines = []
    for row in map(_row_of, map(_document, audits)):
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

    def is_shown(audit: Audit) -> bool:
        has_any = bool(audit.findings or audit.unrequested_damage)
        return has_any or "not_read" in audit.summary or len(audits) == 1

    return _rendered("audit.txt.j2", audits, is_shown, is_styled=is_styled)


def _rendered(
    template: str,
    audits: AuditResults,
    is_shown: Callable[[Audit], bool],
    *,
    note: str = "",
    is_styled: bool = False,
) -> str:
    """Return the page of *audits*, with details of those that *is_shown* selects."""
    environment = Environment(
        loader=PackageLoader("cli.pages.audit"),
        autoescape=template.endswith(".html"),
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["number"] = number_of
    bold = partial(style, bold=is_styled or None, reset=is_styled)
    environment.filters["bold"] = lambda text: Markup(bold(printable(text)))  # noqa: S704 - the text escapes nothing
    documents = list(map(_document, audits))
    rows = list(map(_row_of, documents))
    return environment.get_template(template).render(
        texts=TEXTS,
        note=note,
        rows=rows if len(rows) > 1 else [],
        verdicts=Counter(row["verdict"] for row in rows),
        audits=[
            {
                **document,
                "row": row,
                "number": number,
                "is_live": store.audit.is_live,
                "is_harmed_by_start": store.is_harmed_by_start,
                "pictures": partial(charts_of, store.audit),
            }
            for number, (store, document, row) in enumerate(
                zip(audits, documents, rows, strict=True), 1
            )
            if isinstance(store, AuditedStore) and is_shown(store.audit)
        ],
    )


def _row_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of one store: verdict, counts, and its headline or reason."""
    counts: Counter[str] = Counter()
    for group in document.get("groups", ()):
        counts[group["severity"]] += group["count"]
    is_read = "summary" in document
    return {
        "store": document["store"],
        "verdict": document["verdict"],
        "records": document["summary"]["commitlog"]["records"] if is_read else None,
        "errors": counts["error"],
        "warnings": counts["warning"],
        "headline": document["headline" if is_read else "reason"],
    }


def _document(store: AuditedStore | NotAudited) -> dict[str, Any]:
    if isinstance(store, NotAudited):
        document = {"schema": 1, "store": store.store, "verdict": "unreadable"}
        return {**document, "reason": store.reason}
    audit = store.audit
    parts: dict[str, Any] = {}
    if audit.sample is not None:
        parts["sample"] = audit.sample.as_json()
    if audit.against is not None:
        parts["against"] = audit.against
    if store.forecast is not None:
        parts["forecast"] = store.forecast.as_json()
    advice = Advice(store=store)
    return {
        "schema": 1,
        "store": audit.store,
        "verdict": "pass" if store.is_clean else "fail",
        "headline": advice.headline,
        "summary": dict(audit.summary),
        **parts,
        "violations": [finding.as_json() for finding in audit.findings],
        "groups": groups_of(audit.findings),
        "first_steps": [
            {"do": text, "commands": commands} for text, commands in advice.first_steps
        ],
        "next": next_steps(advice),
    }
