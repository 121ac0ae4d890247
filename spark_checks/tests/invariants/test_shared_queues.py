"""
Queues with records of other topics, as 4.9.x writes them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import audit_store
from spark_checks.sampling import SampleSpec
from spark_checks.tests.building import Placed, StoreBuilder, overwrite
from spark_checks.tests.slow import slow_but
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.wire.message.multi_dispatch import Dispatch, properties_of
from spec.wire.message.properties import encode_properties

QUEUES = 2


def put_in_both(
    builder: StoreBuilder, queue_id: int = 0, *, is_stale: bool = False
) -> Placed:
    """Append a message of Own that names Shared, and both units; return its place.

    With *is_stale* it names the place of an earlier message.
    """
    units = builder.queues.setdefault(("Shared", queue_id), [])
    number = len(units) - 1 if is_stale else len(units)
    named = properties_of([Dispatch(queue="Shared", queue_offset=number)])
    own = builder.put("Own", queue_id, properties=encode_properties(named), tags="A")
    if not is_stale:
        units.append(builder.queues["Own", queue_id][-1])
    return replace(own, topic="Shared", queue_offset=number)


def filled() -> StoreBuilder:
    """Return a store in whose queues of Shared records of both topics alternate."""
    builder = StoreBuilder()
    for number in range(60):
        queue_id = number % QUEUES
        for _ in range(1 + number % 3):
            put_in_both(builder, queue_id)
        builder.put("Shared", queue_id, tags="B")
        if number % 7 == 0:
            put_in_both(builder, queue_id, is_stale=True)
    return builder


def found_places(
    spark: SparkSession, root: Path, options: SampleSpec | None = None
) -> set[str]:
    """Return the ids and places of an audit's findings."""
    found = audit_store(spark, str(root), sample_spec=options).findings
    return {f"{one.invariant.id} {one.file} {one.offset}" for one in found}


@pytest.mark.parametrize(
    "options", slow_but([None, SampleSpec(fraction=0.5, seed=3)], None)
)
def test_records_of_other_topics_are_no_fault(
    spark: SparkSession, tmp_path: Path, options: SampleSpec | None
) -> None:
    assert found_places(spark, filled().write(tmp_path), options) == set()


@pytest.mark.slow
def test_queues_made_anew_may_begin_with_records_of_other_topics(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = filled()
    for queue_id in range(QUEUES):
        builder.queues["Shared", queue_id].clear()
        put_in_both(builder, queue_id)
        builder.put("Shared", queue_id)
    assert found_places(spark, builder.write(tmp_path)) == set()


@pytest.mark.slow
def test_what_no_record_explains_is_reported(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = filled()
    foreign = builder.queues["Own", 0][0]
    units = builder.queues["Shared", 0]
    lost, turned = put_in_both(builder), put_in_both(builder)
    units[lost.queue_offset] = Unit(commit_log_offset=0, size=0, tags_code=0)
    units[turned.queue_offset] = foreign
    skipped = len(units)
    units.append(foreign)  # and no record names this place
    after = builder.put("Shared")
    assert found_places(spark, builder.write(tmp_path)) == {
        f"INV-CQ-005 {lost.queue_file} {lost.unit_position}",
        f"INV-CQ-004 {turned.queue_file} {turned.unit_position}",
        f"INV-CQ-004 {turned.queue_file} {skipped * UNIT_SIZE % builder.queue_size}",
        f"INV-LOG-005 {after.log_file} {after.position}",
    }


def test_without_such_records_a_foreign_unit_is_reported(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = StoreBuilder()
    own = builder.put("Own")
    at = [builder.put("Shared") for _ in range(3)][1]
    root = builder.write(tmp_path)
    unit = Unit(commit_log_offset=own.offset, size=own.size, tags_code=0)
    overwrite(root, at.queue_file, UNIT_SIZE, encode_unit(unit))
    assert f"INV-CQ-004 {at.queue_file} {UNIT_SIZE}" in found_places(spark, root)
