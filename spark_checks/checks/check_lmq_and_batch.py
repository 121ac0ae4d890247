"""
Checks of LMQs and batch consume queues, for stores that have them.

The survey does not cover these queues. Their units are read, and the records that name
them.
"""

from __future__ import annotations

from spark_checks.checks.run_checks import SurveyedStore, persisted, run_checks
from spark_checks.findings import Finding
from spark_checks.invariants import batch_consume_queues, lmq
from spark_checks.readers.batch_consume_queue import BatchConsumeQueueSource
from spark_checks.store_files import listing
from spark_checks.tables.store_tables import open_multi_dispatch, open_table, open_units


def lmq_and_batch_findings(surveyed: SurveyedStore) -> list[Finding]:
    """Return the findings in LMQs and batch consume queues."""
    store, only = surveyed.store, surveyed.only
    checked = [
        name
        for name, files in (
            ("INV-LIGHT-", store.lmq_files),
            ("INV-BATCH-", store.batch_queues),
        )
        if files and (not only or any(one.startswith(name) for one in only))
    ]
    if not checked:
        return []
    surveyed.progress("comparing LMQs and batch consume queues with their records")
    session = surveyed.session
    situation = surveyed.situation
    records = open_multi_dispatch(session, store, situation.delays)
    lmqs = open_units(session, store, store.lmq_files)
    batches = open_table(
        session, store, BatchConsumeQueueSource, listing(store.batch_queues)
    )
    parts = []
    if "INV-LIGHT-" in checked:
        parts += [
            lmq.wrong_units(lmqs, records, situation),
            lmq.records_without_unit(lmqs, records, situation),
        ]
    if "INV-BATCH-" in checked:
        parts += [
            batch_consume_queues.wrong_units(batches, records, situation),
            batch_consume_queues.batches_without_unit(batches, records),
        ]
    with persisted(lmqs, batches, records):
        return run_checks(*parts)
