"""
Checks of system topics by the survey's ledger: transactions, delays, send-backs.

Rules match the rows of the ledger (:mod:`spark_checks.checks.match_ledger`). The
records of rows that break one are read again, for the text of their finding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from spark_checks.broker_progress import broker_progress
from spark_checks.checks import match_ledger
from spark_checks.checks.run_checks import SurveyedStore
from spark_checks.columns.by_key import Table
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.invariants.ledger_findings import LEDGER_INVARIANTS, ledger_records
from spark_checks.store_files import Store

Listed = tuple[str, int, Table]
"""Id of an invariant, the number of rows that break it in one file, and the first."""


def needs_system_topics(only: Collection[str] = ()) -> bool:
    """Return whether a requested check needs the ledger."""
    return not only or any(one in only for one in LEDGER_INVARIANTS)


def system_topic_findings(surveyed: SurveyedStore) -> list[Finding]:
    """Return the findings in system topics, and in messages made from them."""
    store, ledger = surveyed.store, surveyed.ledger
    if not ledger.rows and not ledger.is_incomplete:
        return []
    last_ms = surveyed.summary.last_stored_at_ms or 0
    progress = broker_progress(store, surveyed.situation.min_offset, last_ms)
    only = surveyed.only
    names = [name for name in LEDGER_INVARIANTS if not only or name in only]
    bases = [file.base or 0 for file in store.commit_log]
    if ledger.is_incomplete:
        surveyed.progress("matching records of system topics")
        listed = match_ledger.listed_by_tasks(surveyed, progress, names, bases)
    else:
        found = match_ledger.matched(ledger, progress)
        listed = match_ledger.listed_rows(found, names, bases)
    if not listed:
        return []
    surveyed.progress("reading records of system topics")
    some = [(name, count, rows) for (name, _), (count, rows) in listed.items()]
    return (
        surveyed.context.parallelize(some)
        .mapPartitions(lambda one: findings_of(store, one))
        .collect()
    )


def findings_of(store: Store, listed: Iterable[Listed]) -> Iterator[Finding]:
    """Yield the findings about *listed* rows of *store*."""
    with ledger_records(store) as records:
        for name, count, rows in listed:
            values = zip(*(column.tolist() for column in rows.values()), strict=True)
            each = (dict(zip(rows, one, strict=True)) for one in values)
            found = [records.finding(name, row) for row in each]
            yield from found[:-1]
            yield found[-1].with_more(max(count - LISTED_MAX, 0))
