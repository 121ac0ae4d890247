"""
``--since``: only the later part of a log is checked.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import Audit, audit_store
from spark_checks.since import NothingSinceError, part_since
from spark_checks.store_files import list_store
from spark_checks.tests.building import (
    BEGAN_AT_MS,
    Placed,
    StoreBuilder,
    flip,
    overwrite,
)
from spark_checks.tests.commands.command import Runner
from spark_checks.tests.slow import slow_but
from spec.store.commit_log import scan
from spec.store.consume_queue import UNIT_SIZE

STORES = Path(__file__).resolve().parents[3] / "fixtures" / "store"
LOG_SIZE = 4096


def builder_of(count: int = 120) -> StoreBuilder:
    """Return a builder with messages in several files and queues."""
    builder = StoreBuilder(log_size=LOG_SIZE)
    for number in range(count):
        builder.put("Orders", number % 2, properties=f"KEYS\x01key-{number}\x02")
    return builder


def placed_of(builder: StoreBuilder) -> list[Placed]:
    """Return the messages in the order of the log."""
    both = [one for queue in builder.placed.values() for one in queue]
    return sorted(both, key=lambda one: one.offset)


def since_of(builder: StoreBuilder, number: int) -> int:
    """Return the store time of the message with this number."""
    offset = placed_of(builder)[number].offset
    whole = scan(bytes(builder.log[offset - offset % LOG_SIZE : offset + 4096]))
    found = next(r for r in whole.records if r.offset == offset % LOG_SIZE)
    return found.record.stored_at_ms


def places(found: Audit) -> list[tuple[str, str, int]]:
    """Return the places of the findings."""
    return [(one.invariant.id, one.file, one.offset) for one in found.findings]


@pytest.mark.parametrize("number", [0, 1, 31, 60, 119])
def test_the_part_begins_at_the_first_record_late_enough(
    tmp_path: Path, number: int
) -> None:
    builder = builder_of()
    store = list_store(str(builder.write(tmp_path)))
    wanted = placed_of(builder)[number]
    part = part_since(store, since_of(builder, number))
    assert (part.begin, part.min_offset) == (wanted.offset, wanted.offset)
    assert next(file.base for file in part.commit_log) == (
        wanted.offset // LOG_SIZE * LOG_SIZE
    )
    later = part_since(store, since_of(builder, number) - 1)
    assert later.begin == wanted.offset


def test_a_time_behind_the_last_record_is_an_error(tmp_path: Path) -> None:
    store = list_store(str(builder_of().write(tmp_path)))
    with pytest.raises(NothingSinceError, match="no record was stored at 2100-"):
        part_since(store, 4_102_444_800_000)


def test_a_file_whose_first_record_is_damaged_is_looked_through(
    tmp_path: Path,
) -> None:
    builder = builder_of()
    root = builder.write(tmp_path)
    hit = next(one for one in placed_of(builder) if one.offset == LOG_SIZE)
    overwrite(root, hit.log_file, 0, b"\x5a" * hit.size)
    wanted = next(one for one in placed_of(builder) if one.offset > LOG_SIZE)
    number = placed_of(builder).index(wanted)
    part = part_since(list_store(str(root)), since_of(builder, number))
    assert part.begin == wanted.offset


@pytest.mark.parametrize("number", [1, 57, 119])
def test_a_sound_store_is_silent_from_any_record_on(
    spark: SparkSession, tmp_path: Path, number: int
) -> None:
    builder = builder_of()
    root = builder.write(tmp_path)
    found = audit_store(spark, str(root), since_ms=since_of(builder, number))
    assert places(found) == []
    log = found.summary["commitlog"]
    assert isinstance(log, dict)
    assert log["records"] == 120 - number
    assert log["min_offset"] == str(placed_of(builder)[number].offset)


@pytest.mark.parametrize("part", slow_but([0.02, 0.4, 0.97], 0.4))
@pytest.mark.parametrize(
    "name", slow_but(["4.6.0-stopped", "5.4.0-killed"], "5.4.0-killed")
)
def test_a_real_store_is_silent_from_anywhere_on(
    spark: SparkSession, name: str, part: float
) -> None:
    log = sorted((STORES / name / "commitlog").iterdir())
    records = [one.record for file in log for one in scan(file.read_bytes()).records]
    since = records[int(len(records) * part)].stored_at_ms
    found = audit_store(spark, str(STORES / name), since_ms=since)
    assert [one.message for one in found.findings] == []


@pytest.mark.slow
def test_what_is_wrong_before_is_silent_and_behind_is_found(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = builder_of()
    root = builder.write(tmp_path)
    early, late = placed_of(builder)[40:44], placed_of(builder)[80:84]
    for body, unit, hole, head in (early, late):
        flip(root, body.log_file, body.position + 90)
        flip(root, unit.queue_file, unit.unit_position + 11)
        overwrite(root, hole.queue_file, hole.unit_position, b"\0" * UNIT_SIZE)
        flip(root, head.log_file, head.position + 4)
    whole = places(audit_store(spark, str(root)))
    part = places(audit_store(spark, str(root), since_ms=since_of(builder, 44)))
    body, unit, hole, head = late
    planted = {
        ("INV-CQ-001", head.queue_file, head.unit_position),
        ("INV-CQ-002", unit.queue_file, unit.unit_position),
        ("INV-CQ-005", hole.queue_file, hole.unit_position),
        ("INV-LOG-001", head.log_file, head.position),
        ("INV-LOG-002", body.log_file, body.position),
    }
    assert planted <= set(part) <= set(whole)
    assert len(whole) == 2 * len(part)  # as much is wrong before


@pytest.mark.slow
def test_a_queue_file_of_earlier_records_may_be_missing(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = builder_of(200)
    root = builder.write(tmp_path)
    queue = root / "consumequeue" / "Orders" / "0"
    (queue / f"{400:020}").unlink()
    since_ms = since_of(builder, 130)
    assert places(audit_store(spark, str(root), since_ms=since_ms)) == []
    (queue / f"{1200:020}").unlink()
    found = places(audit_store(spark, str(root), since_ms=since_ms))
    assert ("INV-FILE-003", f"consumequeue/Orders/0/{1200:020}", 0) in found


def test_the_command_takes_a_time(run_audit: Runner, tmp_path: Path) -> None:
    builder = builder_of()
    root = builder.write(tmp_path / "store")
    early = placed_of(builder)[20]
    flip(root, early.log_file, early.position + 90)
    since = str(since_of(builder, 21))
    found = run_audit(root, "--since", since, "--format", "json")
    assert (found.exit_code, json.loads(found.stdout)["violations"]) == (0, [])
    for wrong, output in {
        ("--since", "soon"): "soon is neither a time",
        ("--since", "2100-01-01"): "no record was stored at 2100-01-01",
        ("--since", since, "--against", str(root)): "--since goes with none of",
    }.items():
        refused = run_audit(root, *wrong)
        assert refused.exit_code == 2
        assert output in refused.output
    assert int(since) > BEGAN_AT_MS
