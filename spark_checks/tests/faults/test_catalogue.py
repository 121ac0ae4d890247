"""
Every fault is found at its place with its id, and generation is repeatable.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import asdict
from pyspark.sql import SparkSession

from spark_checks.audit import audit_store
from spark_checks.faults.catalogue import CATALOGUE, plant_all, sheets
from spark_checks.faults.fault import Expected, Planted
from spark_checks.faults.labels import (
    LabelsError,
    Score,
    read_labels,
    score,
    write_labels,
)
from spark_checks.generate.part import messages_of, rounds_of
from spark_checks.generate.plan import Plan, PlanError
from spark_checks.generate.store import generate
from spark_checks.tests.building import FAULTS_PLAN
from spark_checks.tests.commands.advised import finding
from spark_checks.tests.slow import slow_but
from spec.layout import build, parse
from spec.store.commit_log import scan
from spec.store.message_record import decode_record, encode_record, record_layout
from spec.store.record_checksum import agrees

RICH = replace(FAULTS_PLAN, is_rich=True)
SHEETS = sheets()
KINDS_MIN = 60


def fingerprint(root: Path) -> dict[str, str]:
    """Return a digest of each file of *root*."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("sheet", slow_but(range(len(SHEETS)), 0))
def test_every_planted_fault_is_found_and_nothing_else(
    spark: SparkSession, tmp_path: Path, sheet: int
) -> None:
    plan = RICH if CATALOGUE[SHEETS[sheet][0]].is_rich else FAULTS_PLAN
    generate(tmp_path, plan)
    planted = plant_all(tmp_path, plan, SHEETS[sheet])
    before = fingerprint(tmp_path)
    found = score(planted, audit_store(spark, str(tmp_path)).findings)
    assert found.missed == ()
    assert found.unexpected == ()
    assert len(found.found) == len(SHEETS[sheet])
    assert fingerprint(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("size", [2 << 20, 4 << 20, 8 << 20])
def test_labels_of_a_store_of_any_size_are_right(
    spark: SparkSession, tmp_path: Path, size: int
) -> None:
    plan = Plan(seed=1, topics=8, queues=2, body_size=200).with_size(size)
    generate(tmp_path, plan)
    planted = plant_all(tmp_path, plan, SHEETS[0])
    found = score(planted, audit_store(spark, str(tmp_path)).findings)
    assert found.missed == ()
    assert found.unexpected == ()


def test_the_catalogue_is_large_and_no_kind_is_left_out() -> None:
    assert len(CATALOGUE) >= KINDS_MIN
    assert sorted(kind for sheet in SHEETS for kind in sheet) == sorted(CATALOGUE)


@pytest.mark.parametrize("is_rich", [False, True], ids=["basic", "rich"])
def test_a_generated_store_is_silent_and_made_by_any_number_of_workers(
    spark: SparkSession, tmp_path: Path, is_rich: bool
) -> None:
    plan = Plan(seed=3, topics=2, queues=2, body_size=300, is_rich=is_rich).with_size(
        1 << 19
    )
    generate(tmp_path / "here", plan)
    generate(tmp_path / "there", plan, spark.sparkContext)
    assert fingerprint(tmp_path / "here") == fingerprint(tmp_path / "there")
    audit = audit_store(spark, str(tmp_path / "here"))
    assert [found.message for found in audit.findings] == []


def test_another_seed_is_another_store(tmp_path: Path) -> None:
    small = [Plan(seed=seed, files=1, log_size=20_000) for seed in (1, 1, 2)]
    for number, plan in enumerate(small):
        generate(tmp_path / str(number), plan)
    one, again, other = (fingerprint(tmp_path / str(number)) for number in range(3))
    assert one == again
    assert one != other


def test_records_are_those_of_the_specification() -> None:
    for message in messages_of(FAULTS_PLAN, 0):
        data = encode_record(message.record)
        assert data == build(record_layout, parse(record_layout, data))
        assert decode_record(data) == message.record
        assert agrees(data) is None
    for message in messages_of(RICH, 0):
        data = encode_record(message.record)
        assert data == build(record_layout, parse(record_layout, data))
        assert decode_record(data) == message.record
        assert agrees(data) is True


def test_a_generated_log_is_read_to_its_end(tmp_path: Path) -> None:
    generate(tmp_path, FAULTS_PLAN)
    files = sorted((tmp_path / "commitlog").iterdir())
    counts = [len(scan(path.read_bytes(), int(path.name)).records) for path in files]
    expected = len(list(messages_of(FAULTS_PLAN, 0)))
    assert counts == [expected] * FAULTS_PLAN.files
    assert expected % rounds_of(FAULTS_PLAN) == 0


def test_what_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="does not fit"):
        generate(tmp_path / "new", Plan(log_size=1000))
    (tmp_path / "file").touch()
    with pytest.raises(PlanError, match="not empty"):
        generate(tmp_path, Plan())
    plan = Plan(files=1, topics=4)
    generate(tmp_path / "small", plan)
    with pytest.raises(PlanError, match="too small"):
        plant_all(tmp_path / "small", plan, ["record-zeros"] * 99)


def test_an_audit_is_scored_by_id_file_and_offset() -> None:
    hit, other, more = (
        Expected(finding="INV-LOG-001", file="commitlog/0", offset=offset)
        for offset in (1, 2, 3)
    )
    planted = [
        Planted(kind="one", also=(more,), **asdict(hit)),
        Planted(kind="two", **asdict(other)),
    ]
    findings = [
        finding("INV-LOG-001", file="commitlog/0", offset=offset)
        for offset in (1, 3, 4)
    ]
    assert score(planted, findings) == Score(
        found=(planted[0],),
        missed=(planted[1],),
        unexpected=(Expected(finding="INV-LOG-001", file="commitlog/0", offset=4),),
    )
    assert planted[1].place == "INV-LOG-001  commitlog/0 @ 2"


def test_labels_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    hit = Expected(finding="INV-LOG-001", file="commitlog/0", offset=1 << 40)
    planted = [Planted(kind="one", also=(hit,), **asdict(hit))]
    write_labels(path, planted, seed=5)
    assert read_labels(path) == planted
    path.write_text('{"schema": 2}', encoding="utf-8")
    with pytest.raises(LabelsError, match="schema 2"):
        read_labels(path)
    for text in ("{}", '{"schema": 1, "findings": []}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(LabelsError, match="is not a label file"):
            read_labels(path)
