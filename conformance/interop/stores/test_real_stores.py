"""
Audits of stores that real releases wrote have no finding without a reason.

Every finding here is a false alarm of an invariant, or a defect of the release that a
clause describes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.releases import PINNED
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.handover.handover import (
    DEAD,
    LATER,
    PAID,
    RETRY,
    SETTINGS,
    TOPICS,
    client_of,
    target_text,
)
from conformance.interop.handover.java_batches import leave_batches
from conformance.interop.handover.real_stores import (
    DAMAGED,
    KILLED,
    PACKED,
    RECOVERED,
    STAGES,
    STRUCK,
    damage_a_body,
    leave_stores,
)
from conformance.interop.handover.shared_queues import (
    ROUNDS,
    SHARED,
    leave_shared_queues,
)
from conformance.interop.tools.audit_command import Audited, audited, finding_lines
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC, SCHEDULE_TOPIC

LIVE_SETTINGS = {**SETTINGS, "timerWheelEnable": "false"}
"""Small files, so that the broker makes new ones during an audit."""
QUIET = [stage for stage in STAGES if stage != STRUCK]
WITH_MESSAGES = {
    *(*TOPICS, LATER, PAID, PACKED, RETRY, DEAD),
    *(SCHEDULE_TOPIC, HALF_TOPIC, OP_TOPIC),
}


@pytest.mark.parametrize("release", PINNED)
def test_clean_stores_give_no_finding(release: str, tmp_path: Path) -> None:
    stores = leave_stores(release, tmp_path)
    stores[DAMAGED] = tmp_path / "damaged"
    place = damage_a_body(stores[RECOVERED], stores[DAMAGED])
    found = dict(zip(stores, audited(*stores.values()), strict=True))
    assert {stage: finding_lines(found[stage]) for stage in QUIET} == {
        stage: [] for stage in QUIET
    }
    for stage in QUIET:
        assert_rich(found[stage], stores[stage])
    assert_only_late(found[STRUCK], stores[STRUCK])
    assert [(stage, is_left_open(stores[stage])) for stage in STAGES] == [
        (stage, stage in (KILLED, STRUCK)) for stage in STAGES
    ]
    added = found[DAMAGED]["violations"]
    assert [one["invariant"] for one in added] == ["INV-LOG-002"]
    assert (added[0]["file"], int(added[0]["offset"])) == place


@pytest.mark.parametrize("has_light", [True, False])
def test_messages_in_queues_of_other_topics_give_no_finding(
    has_light: bool, tmp_path: Path
) -> None:
    stores = leave_shared_queues(tmp_path, has_light=has_light)
    for one, store in zip(audited(*stores), stores, strict=True):
        assert (store, finding_lines(one)) == (store, [])
        queues = one["summary"]["topics"][SHARED]["queues"].values()
        assert sum(queue["messages"] for queue in queues) >= 2 * ROUNDS


@pytest.mark.parametrize("release", PINNED)
def test_batches_of_java_producers_give_no_finding(
    release: str, tmp_path: Path
) -> None:
    stores = leave_batches(release, tmp_path)
    for one, store in zip(audited(*stores), stores, strict=True):
        assert (store, finding_lines(one)) == (store, [])
        assert (
            one["summary"]["index"]["entries"] > one["summary"]["commitlog"]["records"]
        )


@pytest.mark.parametrize("release", PINNED)
def test_a_store_that_a_broker_writes_gives_no_finding(
    release: str, tmp_path: Path
) -> None:
    store, is_audited = tmp_path / "store", Event()
    with parse_target(target_text(release), conf=LIVE_SETTINGS, store=store) as target:
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(send_until, is_audited, target)
            try:
                (found,) = audited(store)
            finally:
                is_audited.set()
            assert sent.result() > found["summary"]["commitlog"]["records"] > 0
        target.stop()
    assert found["summary"]["live"] is True
    assert finding_lines(found) == []


def send_until(is_audited: Event, target: Target) -> int:
    """Send messages with keys, tags and delays; return their number at the end."""
    count = 0
    with client_of(target) as broker:
        require_success(broker.create_topic(topic=PACKED, queue_count=2))
        while not is_audited.is_set():
            own = {"KEYS": f"key-{count}", "TAGS": f"tag-{count % 3}"}
            delay = {"DELAY": "1"} if count % 20 == 0 else {}
            properties = {**own, **delay}
            queue_id = count % 2
            broker.send_message(topic=PACKED, queue_id=queue_id, properties=properties)
            count += 1
    return count


def assert_rich(found: Audited, store: Path) -> None:
    """Check that the store holds all that the audit was silent about."""
    summary = found["summary"]
    assert summary["commitlog"]["files"] > 1
    assert summary["index"]["files"] > 1
    assert len(list((store / "consumequeue/HandoverBills/0").iterdir())) > 1
    assert set(summary["topics"]) >= WITH_MESSAGES


def assert_only_late(found: Audited, store: Path) -> None:
    """Check that a broker struck down left no more than what its start puts right.

    A kill amid the creation of a queue file leaves it empty, with which 4.6.0 does not
    start (4.6.0 MappedFileQueue#load).
    """
    queues = store.glob("consumequeue/*/*/*")
    is_refused = any(file.stat().st_size == 0 for file in queues) and (
        found["forecast"]["release"] == "4.6.0"
    )
    assert found["verdict"] == ("fail" if is_refused else "pass")
    assert {one["severity"] for one in found["violations"]} <= {"warning"}


def is_left_open(store: Path) -> bool:
    """Return whether a broker has ended there without closing the store."""
    return (store / "abort").exists()
