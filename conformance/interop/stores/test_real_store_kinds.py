"""
Audits of stores of every kind that real releases leave have no finding.

Some brokers served every feature of their Java client, popped messages and timers. Some
let files expire, built queues again, had an IPv6 address or kept transactions in
RocksDB. Others went on with the store of another release, or had a failover. One builds
an index again whose item was wrong, after the steps of its audit.
"""

from __future__ import annotations

import shlex
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.harness.releases import PINNED
from conformance.interop.stores.failover import COUNT, CUT_OFF, FIRST, leave_failover
from conformance.interop.stores.features import leave_features
from conformance.interop.stores.pop_store import leave_popped
from conformance.interop.stores.traffic import fill
from conformance.interop.stores.undamaged_stores import (
    DELETED,
    DELETED_COUNT,
    DELETED_QUEUES,
    broker_of,
    leave_copies,
    leave_deleted,
    leave_expired,
    leave_ipv6,
    leave_rebuilt,
    leave_rocksdb,
    leave_successions,
)
from conformance.interop.tools.audit_command import (
    audited,
    finding_lines,
    recover_forecast,
)
from spec.clause import release_key
from spec.store.file_names import INDEX
from spec.store.index_file import item_position, slot_count_of
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    OP_TOPIC,
    ROCKSDB_HALF_TOPIC,
    SCHEDULE_TOPIC,
    TIMER_TOPIC,
)

Leave = Callable[[str, Path], dict[str, Path]]
KINDS: dict[str, Leave] = {
    "features": leave_features,
    "expired": leave_expired,
    "rebuilt": leave_rebuilt,
    "IPv6": leave_ipv6,
}
REVIVE_TOPIC = "rmq_sys_REVIVE_LOG_DefaultCluster"
FIRST_THAT_REBUILDS = "4.6.0"
"""After an orderly stop, 4.4.0 dispatches only new messages, and a queue that was
deleted begins at 0 (4.4.0 store.DefaultMessageStore#start)."""
FIRST_THAT_SPARES = (4, 9, 7)
"""4.4.0 and 4.6.0 delete the queues of OP_TOPIC whenever a topic is deleted, and one of
the features does that (4.6.0 store.DefaultMessageStore#cleanUnusedTopic)."""
CELLS = [
    (kind, release)
    for kind in KINDS
    for release in PINNED
    if kind != "rebuilt" or release >= FIRST_THAT_REBUILDS
]


@pytest.mark.parametrize(("kind", "release"), CELLS)
def test_stores_of_a_kind_give_no_finding(
    kind: str, release: str, tmp_path: Path
) -> None:
    stores = KINDS[kind](release, tmp_path)
    found = dict(zip(stores, audited(*stores.values()), strict=True))
    assert {name: finding_lines(found[name]) for name in stores} == {
        name: [] for name in stores
    }
    expected = {HALF_TOPIC, SCHEDULE_TOPIC}
    if kind != "features" or release_key(release) >= FIRST_THAT_SPARES:
        expected.add(OP_TOPIC)
    for one in found.values():
        assert set(one["summary"]["topics"]) >= expected


@pytest.mark.parametrize("release", [one for one in PINNED if one >= "5"])
def test_popped_and_timed_messages_give_no_finding(
    release: str, tmp_path: Path
) -> None:
    stores = leave_popped(release, tmp_path)
    for one, store in zip(audited(*stores.values()), stores, strict=True):
        assert (store, finding_lines(one)) == (store, [])
        assert set(one["summary"]["topics"]) >= {TIMER_TOPIC, REVIVE_TOPIC}


@pytest.mark.parametrize("release", [one for one in PINNED if one >= "5.4"])
def test_transactions_in_rocksdb_give_no_finding(release: str, tmp_path: Path) -> None:
    stores = leave_rocksdb(release, tmp_path)
    for one, store in zip(audited(*stores.values()), stores, strict=True):
        assert (store, finding_lines(one)) == (store, [])
        topics = set(one["summary"]["topics"])
        assert (ROCKSDB_HALF_TOPIC in topics, HALF_TOPIC in topics) == (True, False)


@pytest.mark.parametrize("release", [one for one in PINNED if one >= "5"])
def test_stores_after_a_failover_have_no_error(release: str, tmp_path: Path) -> None:
    stores = leave_failover(release, tmp_path)
    found = dict(zip(stores, audited(*stores.values()), strict=True))
    for name, one in found.items():
        assert (name, one["verdict"]) == (name, "pass"), finding_lines(one)
    counts = {
        name: one["summary"]["commitlog"]["records"] for name, one in found.items()
    }
    assert counts.pop(CUT_OFF) == COUNT + FIRST
    assert len(set(counts.values())) == 1
    for step in found[CUT_OFF]["next"]:
        assert "salvage" not in " ".join([step["do"], *step["commands"]])
    forecast = recover_forecast(stores[CUT_OFF], release)
    assert (forecast["starts"], forecast["totals"]["lost"]) == (True, 0)


@pytest.mark.parametrize("release", PINNED)
def test_messages_of_deleted_topics_are_no_harm(release: str, tmp_path: Path) -> None:
    (store,) = leave_deleted(release, tmp_path).values()
    (found,) = audited(store)
    assert finding_lines(found) == []
    forecast = recover_forecast(store, release)
    assert forecast["totals"]["invisible"] == 0
    gone = Counter[str]()
    for one in forecast["messages"]["of_deleted_topics"]:
        gone[one["topic"]] += one["count"]
    counts = {name: gone[name] for name in DELETED}
    assert counts == dict.fromkeys(DELETED, DELETED_QUEUES * DELETED_COUNT)


@pytest.mark.parametrize("release", ["4.6.0", PINNED[-1]])
def test_the_steps_for_a_wrong_index_item_build_the_index_again(
    release: str, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    with broker_of(release, store) as (target, broker):
        fill(broker, "first", count=60)
        target.stop()
    file = min((store / INDEX).iterdir())
    data = bytearray(file.read_bytes())
    data[item_position(5, slot_count_of(len(data)))] ^= 1
    file.write_bytes(data)
    (found,) = audited(store)
    assert "INV-INDEX-007" in {one["invariant"] for one in found["violations"]}
    for step in found["next"]:
        for command in step["commands"]:
            subprocess.run(shlex.split(command), check=True)
    assert not (store / INDEX).exists()
    with broker_of(release, store) as (target, broker):
        fill(broker, "again", count=20)
        target.stop()
    (again,) = audited(store)
    assert finding_lines(again) == []
    assert again["summary"]["index"]["entries"] > found["summary"]["index"]["entries"]


@pytest.mark.parametrize("release", PINNED)
def test_the_moving_end_of_a_copy_is_a_warning(release: str, tmp_path: Path) -> None:
    stores = leave_copies(release, tmp_path)
    for one, store in zip(audited(*stores.values()), stores, strict=True):
        assert (store, one["verdict"]) == (store, "pass"), finding_lines(one)


def test_releases_that_go_on_with_each_other_give_no_finding(tmp_path: Path) -> None:
    stores = leave_successions(tmp_path)
    for one, name in zip(audited(*stores.values()), stores, strict=True):
        assert (name, finding_lines(one)) == (name, [])
