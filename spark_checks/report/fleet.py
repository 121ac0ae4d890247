"""Several audited stores as one row each, with what was not audited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spark_checks.report.start_forecast import number_of

NOT_READ = "unreadable"
"""Verdict on a store that could not be audited."""
Document = Mapping[str, Any]
"""Document of one store, as in the JSON output."""


def not_read(store: str, reason: str) -> Document:
    """Return the document of a store that could not be read."""
    return {"schema": 1, "store": store, "verdict": NOT_READ, "reason": reason}


def row_of(document: Document) -> dict[str, Any]:
    """Return the row of one store: verdict, counts, and its headline or reason."""
    counts: Counter[str] = Counter()
    for group in document.get("groups", ()):
        counts[group["severity"]] += group["count"]
    is_read = document["verdict"] != NOT_READ
    return {
        "store": document["store"],
        "verdict": document["verdict"],
        "records": document["summary"]["commitlog"]["records"] if is_read else None,
        "errors": counts["error"],
        "warnings": counts["warning"],
        "headline": document["headline"] if is_read else document["reason"],
    }


def lines_of(documents: Sequence[Document]) -> Iterator[str]:
    """Yield a line for each store, and the headline of those that have one."""
    rows = [row_of(document) for document in documents]
    verdicts = Counter(row["verdict"] for row in rows)
    counted = [f"{count:,} {verdict}" for verdict, count in sorted(verdicts.items())]
    yield f"{number_of(len(rows), 'store')}: {', '.join(counted)}"
    for row in rows:
        counts = " " * 25
        if row["verdict"] != NOT_READ:
            errors = number_of(row["errors"], "error")
            warnings = number_of(row["warnings"], "warning")
            counts = f"{errors:>11}  {warnings:>12}"
        yield f"  {row['verdict']:<10}  {counts}  {row['store']}"
        if row["headline"]:
            yield f"              {row['headline']}"
