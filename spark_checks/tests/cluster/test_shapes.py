"""
Stores of thousands of queues, and of one long queue, overload no task.

The sizes are small here. `tox -e audit-large` has 1,000 topics of 8 queues and
100,000,000 units, and prints the figures.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import Audit, audit_store
from spark_checks.generate.store import generate
from spark_checks.generate.uniform import UniformPlan, uniform_records
from spark_checks.store_files import list_store
from spark_checks.survey.survey import parts_of
from spark_checks.tests.cluster.task_times import Stage, stages
from spec.store.message_record import decode_record, encode_record

TOPICS = int(os.environ.get("AUDIT_TOPICS", "200"))
QUEUES = int(os.environ.get("AUDIT_QUEUES", "4"))
EACH = int(os.environ.get("AUDIT_EACH", "250"))
"""Messages of each of their queues."""
UNITS = int(os.environ.get("AUDIT_UNITS", "2000000"))
"""Units of the long queue."""
LONGEST = 4.0
"""Largest ratio of the longest task to the median, if it matters."""
FELT = 0.45
"""Share of a stage's time from which a single task matters; half is a processor's."""
FELT_FROM_MS = 10_000
"""Stages shorter than this are not checked."""
SHARE = 0.34
"""Largest share of the read bytes for one task of two processors."""
SENT_A_QUEUE = 1_000
"""Bytes that the driver may receive per queue."""
SENT = 2_000_000
"""Bytes that the driver may receive besides."""


def wide() -> UniformPlan:
    """Return a store of many queues."""
    messages = TOPICS * QUEUES * EACH
    return UniformPlan(messages=messages, topics=TOPICS, queues=QUEUES, body_size=100)


def long() -> UniformPlan:
    """Return a store of a single queue."""
    return UniformPlan(messages=UNITS, body_size=16)


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan", [wide(), long()], ids=["many-queues", "one-long-queue"]
)
def test_no_task_and_no_driver_carries_all(
    spark: SparkSession, tmp_path: Path, plan: UniformPlan
) -> None:
    store = tmp_path / "store"
    generate(store, plan, spark.sparkContext)
    spark.sparkContext.range(2, numSlices=2).map(str).count()  # or a task starts Python
    before = max((stage.id for stage in stages(spark)), default=-1)
    began_s = time.monotonic()
    audit = audit_store(spark, str(store))
    ran = stages(spark, after=before)
    _print_figures(plan, audit, ran, time.monotonic() - began_s)
    assert audit.findings == ()
    assert audit.survey_summary.record_count == plan.messages
    assert {
        q: one.count for q, one in audit.survey_summary.units.items()
    } == plan.counts
    read = max(ran, key=lambda stage: stage.total_ms)
    assert len(read.task_ms) > 2
    is_even = max(read.task_ms) < FELT * read.total_ms or read.skew < LONGEST
    assert is_even or read.total_ms < FELT_FROM_MS
    parts = parts_of(list_store(str(store)), 2)
    sizes = [sum(one.byte_count for one in part) for part in parts]
    assert max(sizes) < SHARE * sum(sizes)
    sent = sum(one.result_size for one in ran)
    assert sent < SENT + len(plan.all_queues) * SENT_A_QUEUE


def test_uniform_records_are_those_of_the_encoder() -> None:
    plan = UniformPlan(messages=100, topics=2, queues=3, log_size=4096)
    rows = uniform_records(plan, range(40, 90))
    for number, row in enumerate(rows, start=40):
        record = decode_record(row.tobytes())
        assert encode_record(record) == row.tobytes()
        assert (record.topic, record.queue_id) == plan.all_queues[number % 6]
        assert record.queue_offset == number // 6
        assert record.physical_offset == plan.offset_of(number)


def _print_figures(
    plan: UniformPlan, audit: Audit, ran: list[Stage], took_s: float
) -> None:
    """Print the measured figures, visible with -s."""
    lines = [
        f"\n{len(plan.all_queues):,} queues, {plan.messages:,} messages of"
        f" {plan.record_size} bytes: {took_s:.1f} s, {len(audit.findings)} findings"
    ]
    lines += [
        f"  stage {one.id}: {len(one.task_ms)} tasks, {one.total_ms / 1000:.1f} s,"
        f" median {median(one.task_ms) / 1000:.2f} s,"
        f" longest {max(one.task_ms) / 1000:.2f} s,"
        f" {one.result_size:,} bytes of results"
        for one in ran
    ]
    sys.stdout.write("\n".join(lines) + "\n")
