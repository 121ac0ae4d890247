"""
Records of popped messages: planted faults are found, and legal histories are silent.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from spark_checks.faults.catalogue import CATALOGUE, plant_all
from spark_checks.faults.fault import Fault
from spark_checks.faults.site import Site
from spark_checks.findings import INVARIANTS, Finding, Severity
from spark_checks.generate.plan import REVIVE_TOPIC, Plan
from spark_checks.generate.rounds import Kind, with_checksum
from spark_checks.generate.store import generate
from spark_checks.invariants.pop import check_pop as checks
from spark_checks.invariants.pop.check_pop import check_pop
from spark_checks.invariants.pop.revive_records import check_record, revive_record
from spark_checks.invariants.queue_records import QueuedRecord
from spark_checks.store_files import list_store
from spec.store.message_record import Record
from spec.store.record_checksum import CHECKSUM_SIZE
from spec.wire.bodies import fastjson
from spec.wire.pop.pop_bodies import ACK_TAG, CHECKPOINT_TAG, REVIVE_GROUP

PLAN = Plan(files=4, log_size=96 * 1024, topics=2, queues=2, body_size=64, is_rich=True)
ROUND = 7
POP_FAULTS = [one for one in CATALOGUE.values() if one.subject == "pops"]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a generated store with pops."""
    root = tmp_path_factory.mktemp("pops") / "store"
    generate(root, PLAN)
    return root


@pytest.fixture
def store(intact: Path, tmp_path: Path) -> Path:
    """Return a copy to plant faults into."""
    return Path(shutil.copytree(intact, tmp_path / "store"))


def findings_of(root: Path) -> list[Finding]:
    """Return the findings about pops."""
    return list(check_pop(list_store(str(root))))


def ids_of(root: Path) -> list[str]:
    """Return the ids of the findings about pops."""
    return [one.invariant.id for one in findings_of(root)]


def change(root: Path, kind: Kind, new: Callable[[Record], Record]) -> None:
    """Change the record of *kind* of one round; its size stays."""
    site = Site(root=root, plan=PLAN)
    hit = next(one for one in site.round(ROUND) if one.kind is kind)
    bare = replace(hit.record, properties=hit.record.properties[:-CHECKSUM_SIZE])
    site.rewrite(hit, with_checksum(new(bare)))


def with_members(**members: object) -> Callable[[Record], Record]:
    """Return a function that changes members of a body."""

    def new(record: Record) -> Record:
        body = fastjson.loads(record.body)
        assert isinstance(body, dict)
        return replace(record, body=fastjson.dumps({**body, **members}))

    return new


def set_progress(root: Path, offsets: Mapping[int, int]) -> None:
    """Set the broker's progress in its revive queues."""
    name = f"{REVIVE_TOPIC}@{REVIVE_GROUP}"
    data = fastjson.dumps({"offsetTable": {name: offsets}})
    (root / "config" / "consumerOffset.json").write_bytes(data)


def found_in_checkpoint(**members: object) -> list[Finding]:
    """Return the findings in a record with a checkpoint that has these *members*."""
    valid = {"t": "T", "c": "G", "q": 0, "so": 5, "pt": 1000, "it": 60_000}
    return found_in_record(CHECKPOINT_TAG, {**valid, "n": 3, "bm": 0, **members})


def found_in_record(tag: str, members: Mapping[str, object]) -> list[Finding]:
    """Return the findings in a revive record with *tag* and a body of *members*."""
    record = QueuedRecord(
        place=("commitlog/0", (0, 300)),
        topic=REVIVE_TOPIC,
        queue_id=0,
        queue_offset=0,
        stored_at_ms=1000,
        reconsume_times=0,
        body=fastjson.dumps(members),
        properties={"TAGS": tag},
    )
    return list(check_record(record, revive_record(record)))


def test_a_revive_time_of_zero_is_shown() -> None:
    assert found_in_checkpoint(reviveTime=61_000) == []
    (found,) = found_in_checkpoint(reviveTime=0)
    assert found.invariant.id == "INV-POP-003"
    assert found.found.endswith("and reviveTime 0")


def test_a_count_of_any_size_is_judged() -> None:
    assert found_in_checkpoint(n=10**20) == []
    (found,) = found_in_checkpoint(n=0)
    assert found.found == "a count of 0 and 0 offsets"


def test_an_acknowledgement_of_5_0_0_has_long_names() -> None:
    ack = {"ackOffset": 5, "brokerName": "b", "consumerGroup": "G", "popTime": 1000}
    ack |= {"queueId": 0, "startOffset": 5, "topic": "T"}
    assert found_in_record(ACK_TAG, ack) == []
    (found,) = found_in_record(ACK_TAG, {**ack, "popTime": None})
    assert found.found == "no member pt"


def test_an_intact_store_is_silent(intact: Path) -> None:
    assert findings_of(intact) == []


@pytest.mark.parametrize("fault", POP_FAULTS, ids=lambda fault: fault.kind)
def test_a_planted_fault_is_found_at_its_place(store: Path, fault: Fault) -> None:
    (planted,) = plant_all(store, PLAN, [fault.kind])
    found = {(one.invariant.id, one.file, one.offset) for one in findings_of(store)}
    required, *allowed = (
        (one.finding, one.file, one.offset) for one in (planted.expected, *planted.also)
    )
    assert required in found
    assert found <= {required, *allowed}


def test_every_invariant_has_a_planted_fault(tmp_path: Path, intact: Path) -> None:
    found = set()
    for number, fault in enumerate(POP_FAULTS):
        root = Path(shutil.copytree(intact, tmp_path / str(number)))
        (planted,) = plant_all(root, PLAN, [fault.kind])
        found.add(planted.expected.finding)
    assert found == {one for one in INVARIANTS if one.startswith("INV-POP-")}


def test_errors_of_a_killed_broker_are_warnings(store: Path) -> None:
    change(store, Kind.CHECKPOINT, with_members(n=3))
    (finding,) = findings_of(store)
    assert finding.settled(is_open=False).severity is Severity.ERROR
    assert finding.settled(is_open=True).severity is Severity.WARNING


def test_an_acknowledgement_without_a_checkpoint_is_silent(store: Path) -> None:
    change(store, Kind.CHECKPOINT, with_members(q=1))
    assert ids_of(store) == []


def lose(root: Path) -> None:
    """Make the acknowledgement of one round that of another queue."""
    change(root, Kind.ACKNOWLEDGED, with_members(q=1))


def test_a_lost_message_is_found_once_a_later_one_came(store: Path) -> None:
    lose(store)
    assert ids_of(store) == ["INV-POP-005"]
    set_progress(store, {0: 2 * ROUND + 2})
    assert ids_of(store) == ["INV-POP-005"]


@pytest.mark.parametrize("last", [2 * ROUND, 2 * ROUND - 2, -1])
def test_a_checkpoint_that_may_be_open_is_silent(store: Path, last: int) -> None:
    lose(store)
    set_progress(store, {0: last})
    assert ids_of(store) == []


def test_a_broker_without_progress_is_silent(store: Path) -> None:
    lose(store)
    (store / "config" / "consumerOffset.json").unlink()
    assert ids_of(store) == []


@pytest.mark.parametrize("name", ["topics", "subscriptionGroup"])
def test_pops_of_a_deleted_topic_or_group_are_silent(store: Path, name: str) -> None:
    lose(store)
    (store / "config" / f"{name}.json").write_bytes(b"{}")
    assert ids_of(store) == []


def test_a_message_with_a_later_checkpoint_is_silent(store: Path) -> None:
    """A client changed the invisible time of a message."""
    lose(store)
    site = Site(root=store, plan=PLAN)
    one, later = (
        next(m for m in site.round(n) if m.kind is Kind.CHECKPOINT)
        for n in (ROUND, ROUND + 2)
    )
    body = fastjson.loads(later.record.body)
    first = fastjson.loads(one.record.body)
    assert isinstance(body, dict)
    assert isinstance(first, dict)
    width = len(str(body["so"])) - len(str(first["so"]))
    moved = {**body, "so": first["so"], "bn": body["bn"] + "x" * width}
    bare = replace(later.record, properties=later.record.properties[:-CHECKSUM_SIZE])
    site.rewrite(later, with_checksum(replace(bare, body=fastjson.dumps(moved))))
    assert ids_of(store) == []


def test_only_the_last_records_of_a_queue_are_read(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(store, Kind.CHECKPOINT, with_members(n=3))
    lose(store)
    assert set(ids_of(store)) == {"INV-POP-002", "INV-POP-005"}
    monkeypatch.setattr(checks, "RECORDS_MAX", 8)
    assert ids_of(store) == []


@pytest.mark.parametrize("part", ["commitlog", "consumequeue"])
def test_damaged_records_are_left_to_other_invariants(store: Path, part: str) -> None:
    change(store, Kind.CHECKPOINT, with_members(n=3))
    under = store / part
    for path in (p for p in under.rglob("*") if p.is_file()):
        data = path.read_bytes()
        path.write_bytes(bytes(byte ^ 0x15 for byte in data))
    assert ids_of(store) == []
