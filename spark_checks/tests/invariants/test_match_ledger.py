"""
Rules match the ledger of an intact store, and find each fault in a wrong one.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from columns.numbers.by_key import Table
from columns.record_properties import Properties, properties_of
from spark_checks.broker_conf import BrokerConf
from spark_checks.checks.match_ledger import (
    Listed,
    listed_by_tasks,
    listed_rows,
    matched,
)
from spark_checks.checks.run_checks import SurveyedStore
from spark_checks.faults.catalogue import CATALOGUE, plant_all
from spark_checks.findings import Severity
from spark_checks.generate.plan import Plan
from spark_checks.generate.store import generate
from spark_checks.invariants.system_topics import LEDGER_INVARIANTS, LedgerRecords
from spark_checks.progress import silent
from spark_checks.situation import Situation, situation_of
from spark_checks.store_files import list_store
from spark_checks.survey import ledger, survey, system_topic_records
from spark_checks.survey.ledger import Ledger
from spark_checks.survey.summary import SurveySummary
from spark_checks.survey.survey import Survey, parts_of, survey_of
from spark_checks.tests.building import StoreBuilder
from spec.store.commit_log import scan
from spec.store.message_record import SystemFlag
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    OP_TOPIC,
    ROCKSDB_HALF_TOPIC,
    SCHEDULE_TOPIC,
)

NAMES = tuple(LEDGER_INVARIANTS)
TABLES = ("halves", "commits", "ops", "delayed", "delivered", "due")
PLAN = Plan(seed=5, files=4, log_size=200 * 1024, topics=2, queues=2, body_size=200)
ROOT = Path(__file__).resolve().parents[3]
STORES = sorted((ROOT / "fixtures" / "store").glob("*-*"))
STOPPED = ROOT / "fixtures" / "store" / "5.4.0-stopped"
"""Store with checked half messages."""
FAULTS = [one.kind for one in CATALOGUE.values() if one.subject == "system_topics"]


def _surveyed(root: Path) -> tuple[Ledger, Situation]:
    store = list_store(str(root))
    situation = situation_of(store, BrokerConf())
    parts = parts_of(store, 1)
    found = reduce(
        Survey.plus, (survey_of(store.url, part, situation) for part in parts)
    )
    return found.ledger, found.summary.completed(situation)


def _broken(root: Path) -> dict[str, list[int]]:
    """Return the offsets of the rows that break each invariant."""
    found = matched(*_surveyed(root))
    return {
        name: found.table(name)["offset"].tolist()
        for name in NAMES
        if name in found.rows
    }


def test_checked_half_messages_are_those_of_a_broker_with_lmqs(tmp_path: Path) -> None:
    config = shutil.copytree(STOPPED, tmp_path / "store") / "config"
    store = list_store(str(config.parent))
    checked = situation_of(store, BrokerConf()).checked_offsets
    assert max(checked.values()) > 0
    (config / "consumerOffset.json").rename(config / "lmqConsumerOffset.json")
    store = list_store(str(config.parent))
    assert situation_of(store, BrokerConf()).checked_offsets == checked


def test_a_generated_store_matches(tmp_path: Path) -> None:
    generate(tmp_path, PLAN)
    found, _ = _surveyed(tmp_path)
    assert {name: len(found.table(name)["offset"]) > 10 for name in TABLES} == (
        dict.fromkeys(TABLES, True)
    )
    assert _broken(tmp_path) == {}


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_breaks_its_invariant(tmp_path: Path, kind: str) -> None:
    generate(tmp_path, PLAN)
    (planted,) = plant_all(tmp_path, PLAN, [kind])
    found = {(name, at) for name, some in _broken(tmp_path).items() for at in some}
    assert found
    assert found <= {
        (one.finding, int(one.file.rpartition("/")[2]) + one.offset)
        for one in (planted.expected, *planted.also)
    }
    assert planted.expected.finding in {name for name, _ in found}


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.name)
def test_a_real_store_matches(path: Path) -> None:
    found, _ = _surveyed(path)
    assert _broken(path) == {}
    records = [
        placed.record
        for file in sorted((path / "commitlog").iterdir())
        for placed in scan(file.read_bytes(), int(file.name)).records
    ]
    for name, topic in (("halves", HALF_TOPIC), ("delayed", SCHEDULE_TOPIC)):
        numbers = [
            one.queue_offset
            for one in records
            if one.topic == topic
            and (
                topic == HALF_TOPIC
                or decode_properties(one.properties)["REAL_TOPIC"] != HALF_TOPIC
            )
        ]
        assert sorted(found.table(name)["queue_offset"].tolist()) == sorted(numbers)


def test_properties_decoded_one_by_one_make_the_same_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(tmp_path, PLAN)
    plant_all(tmp_path, PLAN, ["retry-no-topic"])
    before = _broken(tmp_path)
    found, _ = _surveyed(tmp_path)
    split = properties_of

    def irregular(*args: Any) -> Properties:
        return replace(split(*args), is_regular=False)

    monkeypatch.setattr(system_topic_records, "properties_of", irregular)
    again, _ = _surveyed(tmp_path)
    assert _broken(tmp_path) == before
    for name in found.rows:
        table, other = found.table(name), again.table(name)
        assert {column: values.tolist() for column, values in table.items()} == {
            column: values.tolist() for column, values in other.items()
        }


def test_rows_beyond_the_limit_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(tmp_path, PLAN)
    found, _ = _surveyed(tmp_path)
    assert found.bounded() is found
    monkeypatch.setattr(ledger, "ROWS_MAX", 50)
    assert found.bounded() == Ledger(is_incomplete=True)
    assert found.bounded().plus(Ledger()).is_incomplete


def test_tasks_find_the_rows_that_the_driver_finds(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(tmp_path, PLAN)
    plant_all(tmp_path, PLAN, FAULTS)
    # Pieces of one file each, and few listed rows.
    monkeypatch.setattr(survey, "PIECE_SIZE_MIN", 1)
    store = list_store(str(tmp_path))
    found, situation = _surveyed(tmp_path)
    surveyed = SurveyedStore(
        context=spark.sparkContext,
        store=store,
        summary=SurveySummary(),
        ledger=found,
        situation=situation,
        progress=silent,
        requested=NAMES,
    )
    bases = [file.base for file in store.commit_log]
    here = listed_rows(matched(found, situation), NAMES, bases)
    there = listed_by_tasks(surveyed, NAMES, bases)
    assert {name for name, _ in here} == set(NAMES)
    assert _as_lists(there) == _as_lists(here)


def _as_lists(listed: Listed) -> dict[tuple[str, int], object]:
    return {
        key: (count, {name: column.tolist() for name, column in rows.items()})
        for key, (count, rows) in listed.items()
    }


def test_ops_of_deleted_half_messages_are_older_than_the_first_half_message(
    tmp_path: Path,
) -> None:
    generate(tmp_path, PLAN)
    first, *_ = sorted((tmp_path / "commitlog").iterdir())
    first.unlink()
    found, situation = _surveyed(tmp_path)
    assert situation.min_offset > 0
    oldest = found.table("halves")["queue_offset"].min()
    assert oldest > 0
    ops = found.table("ops")
    for number, broken in ((oldest - 1, 0), (oldest + (1 << 40), 1)):
        column = ops["queue_offset"].copy()
        column[0] = number
        place = ledger.place_of(ops["queue_id"], column)
        # The half message named before is undecided now, but overdue only later.
        changed = Ledger(
            rows={
                **found.rows,
                "ops": [ops.with_columns(queue_offset=column, place=place)],
            }
        )
        early = replace(situation, last_stored_at_ms=0)
        assert len(matched(changed, early).rows.get("INV-TXN-001", ())) == broken


@pytest.mark.parametrize(
    ("body", "broken"), [(b"paid", []), (b"another", ["INV-TXN-002"])]
)
def test_a_commit_has_its_half_message_in_the_topic_of_rocksdb(
    tmp_path: Path, body: bytes, broken: list[str]
) -> None:
    builder, key = StoreBuilder(), "UNIQ_KEY\x01A\x02"
    builder.put("First")
    waits = f"REAL_TOPIC\x01Paid\x02REAL_QID\x010\x02{key}"
    half = builder.put(ROCKSDB_HALF_TOPIC, body=b"paid", properties=waits)
    # A rollback in the other topic, at the same place of the same queue.
    other = builder.put(HALF_TOPIC, properties=waits)
    assert (other.queue_id, other.queue_offset) == (half.queue_id, half.queue_offset)
    builder.put(OP_TOPIC, body=b"0,", tags="d")
    committed = int(SystemFlag.TRANSACTION_COMMIT)
    builder.put("Paid", body=body, flags=committed, properties=key, half_at=half.offset)
    assert list(_broken(builder.write(tmp_path))) == broken


def test_half_messages_in_the_topic_of_rocksdb_are_in_no_queue_of_the_ops(
    tmp_path: Path,
) -> None:
    builder = StoreBuilder()
    for topic in (ROCKSDB_HALF_TOPIC, HALF_TOPIC):
        builder.put(topic, properties="REAL_TOPIC\x01Paid\x02REAL_QID\x010\x02")
    found, situation = _surveyed(builder.write(tmp_path))
    halves, is_other = found.table("halves"), np.array([True, False])
    first = 5  # the earlier half messages of the queue were deleted
    numbers = np.where(is_other, halves["queue_offset"], first)
    place = np.where(
        is_other, halves["place"], ledger.place_of(halves["queue_id"], numbers)
    )
    halves = halves.with_columns(queue_offset=numbers, place=place)
    for number, broken in ((first - 1, 0), (first + 1, 1)):
        zero, named = np.zeros(1, np.int64), np.array([number])
        ops = Table(
            offset=zero + builder.log_size,
            queue_id=zero,
            queue_offset=named,
            place=ledger.place_of(zero, named),
        )
        changed = Ledger(rows={"halves": [halves], "ops": [ops]})
        assert len(matched(changed, situation).rows.get("INV-TXN-001", ())) == broken


def test_a_commit_whose_half_message_is_lost_is_no_error(tmp_path: Path) -> None:
    builder = StoreBuilder()
    builder.put_half("RMQ_SYS_TRANS_HALF_TOPIC", flags=0x4)
    commit = builder.put("Orders", flags=0x8).offset
    store = list_store(str(builder.write(tmp_path)))
    with ExitStack() as opened:
        records = LedgerRecords(store, opened)
        rows = [{"offset": commit, "half_at": 0, "has_half": one} for one in (0, 1)]
        found = [records.finding("INV-TXN-002", row).severity for row in rows]
    assert found == [Severity.WARNING, Severity.ERROR]


@pytest.mark.parametrize(
    ("numbers", "repeated"),
    [
        ([0, 1, 2, 0, 1, 2, 3], []),
        ([0, 1, 2, 1, 1, 2, 0, 1, 2, 3, 3], []),
        ([0, 1, 2, 1, 3], [3]),
        ([0, 1, 2, 0, 1, 3, 3], [4]),
    ],
)
def test_a_level_that_starts_again_delivers_its_next_messages_too(
    tmp_path: Path, numbers: list[int], repeated: list[int]
) -> None:
    builder = StoreBuilder()
    real = "REAL_TOPIC\x01Orders\x02REAL_QID\x010\x02"
    for number in range(4):
        builder.put(SCHEDULE_TOPIC, body=b"%d" % number, properties=real)
    offsets = [
        builder.put("Orders", body=b"%d" % number, properties=real).offset
        for number in numbers
    ]
    found = _broken(builder.write(tmp_path)).get("INV-DELAY-002", [])
    assert found == [offsets[one] for one in repeated]
