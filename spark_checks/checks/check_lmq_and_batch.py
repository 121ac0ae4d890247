"""
Checks of LMQs and batch consume queues, for stores that have them.

The survey does not cover these queues. Their units are read, and the records that name
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from spark_checks.checks.run_checks import SurveyedStore, persisted, run_checks
from spark_checks.findings import Finding
from spark_checks.invariants import batch_consume_queues, lmq
from spark_checks.readers.batch_consume_queue import BatchConsumeQueueSource
from spark_checks.store_files import listing
from spark_checks.tables.lmq_and_batch import OtherQueues
from spark_checks.tables.store_tables import (
    open_multi_dispatch,
    open_table,
    open_units,
)

Check = Callable[[OtherQueues], DataFrame]
LMQ_CHECKS: Mapping[str, Check] = {
    "INV-LIGHT-001": lmq.wrong_units,
    "INV-LIGHT-002": lmq.wrong_units,
    "INV-LIGHT-003": lmq.records_without_unit,
}
BATCH_CHECKS: Mapping[str, Check] = {
    "INV-BATCH-001": batch_consume_queues.wrong_units,
    "INV-BATCH-002": batch_consume_queues.wrong_units,
    "INV-BATCH-004": batch_consume_queues.wrong_units,
    "INV-BATCH-003": batch_consume_queues.batches_without_unit,
}


def lmq_and_batch_findings(surveyed: SurveyedStore) -> list[Finding]:
    """Return the findings in LMQs and batch consume queues."""
    checks = {
        **(LMQ_CHECKS if surveyed.store.lmq_files else {}),
        **(BATCH_CHECKS if surveyed.store.batch_queues else {}),
    }
    wanted = {
        invariant: check
        for invariant, check in checks.items()
        if not surveyed.only or invariant in surveyed.only
    }
    if not wanted:
        return []
    surveyed.progress("comparing LMQs and batch consume queues with their records")
    session, store = surveyed.session, surveyed.store
    of_batches = listing(store.batch_queues)
    tables = OtherQueues(
        lmq=open_units(session, store, store.lmq_files),
        batch=open_table(session, store, BatchConsumeQueueSource, of_batches),
        records=open_multi_dispatch(session, store, surveyed.delays),
        situation=replace(surveyed.situation, log_end=surveyed.summary.log_end),
    )
    with persisted(tables.lmq, tables.batch, tables.records):
        return run_checks(tables, wanted)
