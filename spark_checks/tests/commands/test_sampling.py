"""
``--sample``: findings are those of the whole, and the rest is listed as unchecked.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cli.pages.audit import report
from cli.pages.audit.audited_store import AuditedStore
from columns.scan.log_file import LogRange
from spark_checks.audit import audit_store
from spark_checks.file_systems import reading
from spark_checks.findings import INVARIANTS
from spark_checks.readers.commit_log import batches
from spark_checks.sampling import (
    SampleError,
    SampleSpec,
    checked_ids,
    sample_of,
)
from spark_checks.store_files import Store, list_store
from spark_checks.tests.building import StoreBuilder, flip, overwrite
from spark_checks.tests.commands.command import Runner
from spark_checks.tests.commands.sampled import LEFT_OUT, places
from spark_checks.tests.slow import slow_but
from spec.store.consume_queue import UNIT_SIZE

STORES = Path(__file__).resolve().parents[3] / "fixtures" / "store"


def builder_of(count: int = 400) -> StoreBuilder:
    """Return a builder with messages in several files and queues."""
    builder = StoreBuilder()
    for number in range(count):
        builder.put("Orders", number % 2, properties=f"KEYS\x01key-{number}\x02")
    return builder


def rows_of(store: Store, begin: int, end: int) -> list[tuple[int, str]]:
    """Return offset and kind of the rows in [begin, end)."""
    found = []
    for file in store.commit_log:
        base = file.base
        start, stop = max(begin - base, 0), min(end - base, file.size)
        if start < stop:
            where = LogRange(base=base, file_size=file.size, start=start, end=stop)
            with reading(store.url, file.path) as read_at:
                for batch in batches(read_at, where, {}):
                    columns = batch.select(["offset", "kind"]).to_pydict()
                    found += list(zip(columns["offset"], columns["kind"], strict=True))
    return found


def test_damage_of_the_log_is_kept_beside_the_requested_findings(
    tmp_path: Path, spark: SparkSession
) -> None:
    root = builder_of().write(tmp_path)
    log = sorted((root / "commitlog").iterdir())[1].name
    overwrite(root, f"commitlog/{log}", 200, bytes(400))
    audit = audit_store(spark, str(root), only=["INV-CONFIG-001"])
    assert (audit.findings, audit.is_log_read_whole) == ((), True)
    assert {one.file for one in audit.unrequested_damage} == {f"commitlog/{log}"}
    whole = audit_store(spark, str(root))
    assert audit.unrequested_damage[0] in whole.findings
    assert whole.unrequested_damage == ()
    text = report.as_table([AuditedStore(audit=audit)])
    assert f"  The commit log is damaged in 1 place, first in commitlog/{log}." in text
    assert f"cp -a {root} {root}.copy" in text


@pytest.mark.parametrize("seed", range(12))
def test_a_range_has_the_rows_that_the_whole_has_there(
    tmp_path: Path, seed: int
) -> None:
    builder = builder_of()
    root = builder.write(tmp_path)
    for number in range(10, 190, 9):
        hit = builder.placed["Orders", number % 2][number]
        at = (4, 30, 60)[number % 3]
        overwrite(root, hit.log_file, hit.position + at, b"\x5a\x5a\x5a")
    store = list_store(str(root))
    whole = rows_of(store, 0, 1 << 40)
    sample = sample_of(store, SampleSpec(fraction=0.4, seed=seed))
    assert len(sample.ranges) > 1
    for begin, end in sample.ranges:
        expected = [row for row in whole if begin <= row[0] < end]
        assert rows_of(store, begin, end) == expected


def test_a_seed_chooses_the_same_and_another_something_else(tmp_path: Path) -> None:
    store = list_store(str(builder_of().write(tmp_path)))
    one, again, other = (
        sample_of(store, SampleSpec(fraction=0.3, seed=seed)) for seed in (1, 1, 2)
    )
    assert one == again
    assert one.ranges != other.ranges
    assert 0.1 * one.log_size < one.size < 0.6 * one.log_size


def test_the_whole_is_a_sample_too(tmp_path: Path) -> None:
    builder = builder_of()
    store = list_store(str(builder.write(tmp_path)))
    sample = sample_of(store, SampleSpec(fraction=1, seed=1))
    assert [begin for begin, _ in sample.ranges] == [f.base for f in store.commit_log]
    assert sample.ranges[-1][1] > len(builder.log) - builder.log_size // 4
    assert sample.certain_end <= len(builder.log)


def test_a_log_without_a_record_has_no_ranges(tmp_path: Path) -> None:
    builder = StoreBuilder()
    builder.put("Orders")
    builder.log = bytearray()
    sample = sample_of(
        list_store(str(builder.write(tmp_path))), SampleSpec(fraction=1, seed=1)
    )
    assert (sample.ranges, sample.size, sample.log_size) == ((), 0, 0)


def test_what_takes_the_whole_is_not_asked() -> None:
    assert set(checked_ids([])) == {*INVARIANTS} - LEFT_OUT
    assert checked_ids(["INV-LOG-001", "INV-TXN-001"]) == ["INV-LOG-001"]
    with pytest.raises(SampleError, match="cannot check INV-TXN-001"):
        checked_ids(["INV-TXN-001"])


@pytest.mark.parametrize("seed", slow_but([1, 2], 1))
@pytest.mark.parametrize(
    "name", slow_but(["4.6.0-stopped", "4.9.7-killed", "5.4.0-killed"], "5.4.0-killed")
)
def test_a_real_store_is_silent_in_every_part(
    spark: SparkSession, name: str, seed: int
) -> None:
    options = SampleSpec(fraction=0.4, seed=seed)
    found = audit_store(spark, str(STORES / name), sample_spec=options)
    assert [one.message for one in found.findings] == []
    assert found.sample is not None
    assert found.sample.ranges


@pytest.mark.slow
def test_records_of_an_earlier_life_of_a_queue_are_not_missed(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = builder_of(200)
    for queue in (0, 1):
        builder.queues.pop(("Orders", queue))
    for _ in range(30):
        builder.put("Orders")
        builder.put("Orders", 1)
    hole = builder.queues["Orders", 0][20]
    root = builder.write(tmp_path)
    overwrite(root, f"consumequeue/Orders/0/{400:020}", 0, bytes(UNIT_SIZE))
    for seed in range(3):
        found = audit_store(
            spark, str(root), sample_spec=SampleSpec(fraction=0.6, seed=seed)
        )
        sample = found.sample
        assert sample is not None
        is_in = any(a <= hole.commit_log_offset < b for a, b in sample.ranges)
        at = ("INV-CQ-005", f"consumequeue/Orders/0/{400:020}", 0)
        assert places(found) == ({at} if is_in else set())


def test_every_report_says_what_was_looked_at(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = builder_of().write(tmp_path)
    options = SampleSpec(fraction=0.25, seed=11)
    found = audit_store(spark, str(root), sample_spec=options, with_charts=True)
    sample = found.sample
    assert sample is not None
    document = json.loads(report.as_json([AuditedStore(audit=found)]))
    assert document["summary"]["commitlog"]["max_offset"] is None
    assert document["sample"]["seed"] == 11
    assert document["sample"]["ranges"] == [[str(a), str(b)] for a, b in sample.ranges]
    assert set(document["sample"]["not_judged"]) == LEFT_OUT
    table = report.as_table([AuditedStore(audit=found)])
    assert "(--sample 0.25 --seed 11)" in table
    assert "not checked: INV-LOG-004, INV-LOG-005, INV-CHECK-002" in table
    page = " ".join(report.as_html([AuditedStore(audit=found)]).split())
    assert "--sample 0.25 --seed 11" in page
    assert page.count("audited: commit-log offsets") == len(sample.ranges)
    whole = report.as_table([AuditedStore(audit=replace(found, sample=None))])
    assert "sample" not in whole


def test_the_command_prints_the_seed_it_took(run_audit: Runner, tmp_path: Path) -> None:
    builder = builder_of()
    root = builder.write(tmp_path / "store")
    for hit in builder.placed["Orders", 0]:
        flip(root, hit.log_file, hit.position + 90)
    found_places = ["--sample", "0.3", "--format", "json"]
    first = run_audit(root, *found_places)
    document = json.loads(first.stdout)
    assert (first.exit_code, document["verdict"]) == (1, "fail")
    seed = document["sample"]["seed"]
    again = run_audit(root, *found_places, "--seed", seed)
    assert again.stdout == first.stdout
    for wrong, output in {
        ("--sample", "0"): "0",
        ("--sample", "1.5"): "1.5",
        ("--seed", "5"): "--seed is about --sample",
        ("--sample", "0.1", "--since", "2026-11-22"): "--sample goes with none of",
        ("--sample", "0.1", "--only", "INV-TXN-001"): "a sample cannot check",
    }.items():
        refused = run_audit(root, *wrong)
        assert refused.exit_code == 2
        assert output in refused.output
