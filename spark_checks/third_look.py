"""
The third look at a store: at queues of another kind, where it has such.

Light queues and queues of batches are no part of a survey. Their units are read, and
the records that say that they stand in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from spark_checks.checking import run_checks
from spark_checks.findings import Finding, Invariant
from spark_checks.invariants import batch_queues, light_queues
from spark_checks.invariants.other_queues import OtherQueues
from spark_checks.second_look import SecondLook
from spark_checks.tables import listing, open_elsewhere

Check = Callable[[OtherQueues], DataFrame]
LIGHT_CHECKS: Mapping[Invariant, Check] = {
    light_queues.UNIT: light_queues.wrong_units,
    light_queues.OFFSET: light_queues.units_elsewhere,
    light_queues.EVERY_RECORD: light_queues.records_without_unit,
}
BATCH_CHECKS: Mapping[Invariant, Check] = {
    batch_queues.UNIT: batch_queues.wrong_units,
    batch_queues.COUNT: batch_queues.wrong_counts,
    batch_queues.EVERY_RECORD: batch_queues.batches_without_unit,
}
THIRD_CHECKS: tuple[Invariant, ...] = (*LIGHT_CHECKS, *BATCH_CHECKS)
"""The invariants that a third look answers."""


def third_findings(look: SecondLook) -> list[Finding]:
    """Return what is wrong with queues of another kind."""
    checks = {
        **(LIGHT_CHECKS if look.store.light_queues else {}),
        **(BATCH_CHECKS if look.store.batch_queues else {}),
    }
    wanted = {
        invariant: check
        for invariant, check in checks.items()
        if not look.only or invariant.id in look.only
    }
    if not wanted:
        return []
    look.progress("comparing light and batch queues with the records in them")
    tables = _opened(look)
    kept = tables.light, tables.batch, tables.records
    for table in kept:
        table.persist()
    try:
        return run_checks(tables, wanted)
    finally:
        for table in kept:
            table.unpersist()


def _opened(look: SecondLook) -> OtherQueues:
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.batch_queue import BatchQueueSource

    look.session.dataSource.register(BatchQueueSource)
    store = look.store
    light = (
        look.session.read.format("rocketmq.consumequeue")
        .option("url", store.url)
        .option("files", listing(store.light_queues))
        .option("partitions", str(look.session.sparkContext.defaultParallelism))
        .load()
    )
    batch = (
        look.session.read.format("rocketmq.batchqueue")
        .option("url", store.url)
        .option("files", listing(store.batch_queues))
        .load()
    )
    records = open_elsewhere(look.session, store, look.delays)
    return OtherQueues(
        light=light,
        batch=batch,
        records=records,
        situation=replace(look.situation, log_end=look.seen.log_end),
    )
