"""Retries and dead letters are counted by group."""

from __future__ import annotations

from cli.pages.audit import report
from cli.pages.audit.audited_store import AuditedStore
from spark_checks.store_summary import send_backs_of
from spark_checks.survey.summary import QueueSummary
from spark_checks.tests.commands.page import sample_audit


def _queue(messages: int, *, others: int = 0) -> QueueSummary:
    return QueueSummary(
        count=messages + others,
        matched_count=messages,
        first=0,
        last=messages + others - 1,
        hash=0,
    )


def test_retries_and_dead_letters_are_counted_by_group() -> None:
    units = {
        ("%RETRY%bills", 0): _queue(3),
        ("%RETRY%bills", 1): _queue(2, others=9),
        ("%DLQ%bills", 0): _queue(1),
        ("%DLQ%orders", 0): _queue(4),
        ("%RETRY%idle", 0): _queue(0, others=1),
        ("Orders", 0): _queue(50),
    }
    assert send_backs_of(units) == {
        "bills": {"retries": 5, "dead_letters": 1},
        "orders": {"retries": 0, "dead_letters": 4},
    }


def test_every_format_says_how_many_there_are() -> None:
    found = [AuditedStore(audit=sample_audit())]
    assert "41,001 retries and 7 dead letters of 2 groups" in report.as_table(found)
    assert '"dead_letters": 7' in report.as_json(found)
    page = report.as_html(found)
    assert '<td data-of="Dead letters">7</td>' in page
    assert "<i>" not in page
