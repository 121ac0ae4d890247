"""The page of an audit equals the sample page for browser tests."""

from __future__ import annotations

import re
from pathlib import Path

from cli.pages.audit import report
from cli.pages.audit.audited_store import AuditedStore
from spark_checks.tests.commands.page import sample_audit

SAMPLE = Path(__file__).resolve().parents[3] / "docs" / "samples" / "audit.html"
STORES = [AuditedStore(audit=sample_audit())]


def test_the_sample_page_is_up_to_date() -> None:
    assert report.as_html(STORES) == SAMPLE.read_text(encoding="utf-8"), (
        "python -m spark_checks.tests.commands.test_page writes it anew"
    )


def test_a_page_needs_nothing_beside_itself() -> None:
    page = report.as_html(STORES)
    assert re.findall(r"""(?:src|href)\s*=|url\(|@import|<script""", page) == []
    assert page.count("<svg") >= 6


def test_every_format_says_what_to_do_next() -> None:
    advice = "Bring the damaged files back from a slave or a backup"
    for written in (report.as_html, report.as_json, report.as_table):
        assert advice in " ".join(written(STORES).split())


if __name__ == "__main__":
    SAMPLE.parent.mkdir(parents=True, exist_ok=True)
    SAMPLE.write_text(report.as_html(STORES), encoding="utf-8")
