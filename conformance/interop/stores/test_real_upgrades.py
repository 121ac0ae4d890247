"""
``rmqc audit A --against B`` on stores that went from one real release to another.

Its result is compared with that of the specification's decoders on both logs.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import (
    TOPICS,
    WRITER_SETTINGS,
    client_of,
    target_text,
)
from conformance.interop.handover.long_topic import BODIES, TOPIC, write_long
from conformance.interop.handover.pending import LATE_S
from conformance.interop.handover.real_stores import begin
from conformance.interop.replication.log_comparison import (
    Divergence,
    Queue,
    divergence_of,
    log_of,
)
from conformance.interop.tools.audit_command import audited, finding_lines

OLD, NEW = "4.6.0", "5.3.3"
MORE = "HandoverBills"
"""The topic, of one queue, that gets more messages."""
MORE_COUNT = 150
"""Messages that fill more than one file of the log."""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that the old release wrote and closed."""
    store = tmp_path_factory.mktemp("before") / "store"
    begin(OLD, store)
    return store


def copy_of(store: Path, place: Path) -> Path:
    """Return a copy of *store*."""
    shutil.copytree(store, place)
    return place


def send_more(release: str, store: Path, *, topic: str, count: int) -> None:
    """Let *release* open *store*, store *count* messages of its own and stop."""
    text = target_text(release)
    with parse_target(text, conf=WRITER_SETTINGS, store=store) as target:
        with client_of(target) as broker:
            for number in range(count):
                body = f"{release} wrote number {number} ".encode() * 40
                own = {"UNIQ_KEY": f"U{release}-{number}"}
                response = broker.send_message(topic=topic, body=body, properties=own)
                sent = require_success(response)
            end = int(sent.fields["queueOffset"]) + 1
            broker.wait_for_max_offset(topic=topic, offset=end, timeout_s=LATE_S)
        target.stop()


def compared(store: Path, other: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the comparison of *store* with *other*, and its findings."""
    (found,) = audited(store, against=other)
    return found["against"], found["violations"]


def counts(against: dict[str, Any], name: str) -> Counter[Queue]:
    """Return a number of each queue of a comparison, where it is not 0."""
    return Counter(
        {
            (topic, int(queue_id)): queue[name]
            for topic, held in against["topics"].items()
            for queue_id, queue in held["queues"].items()
            if queue[name]
        }
    )


def test_what_was_stored_after_an_upgrade_is_ahead(
    before: Path, tmp_path: Path
) -> None:
    after = copy_of(before, tmp_path / "after")
    send_more(NEW, after, topic=MORE, count=MORE_COUNT)
    old, new = log_of(before), log_of(after)
    (found,) = audited(before, against=after)
    assert finding_lines(found) == []
    found_report = found["against"]
    assert found_report["verdict"] == "behind"
    assert (found_report["first_divergence"], found_report["ranges"]) == (None, [])
    assert found_report["common"] == {"begin": "0", "end": str(old.end)}
    ahead = new.behind(old.end)
    assert ahead[MORE, 0] == MORE_COUNT
    assert counts(found_report, "ahead_there") == ahead
    assert counts(found_report, "ahead_here") == Counter()
    assert found_report["there"] == {
        "begin": "0",
        "end": str(new.end),
        "bytes_ahead": str(new.end - old.end),
        "messages_ahead": ahead.total(),
        "messages_before": 0,
    }
    units = {
        side: found_report["topics"][MORE]["queues"]["0"][side]
        for side in ("here", "there")
    }
    assert units["there"]["messages"] - units["here"]["messages"] == MORE_COUNT


def test_two_ways_from_one_store_part_where_it_ended(
    before: Path, tmp_path: Path
) -> None:
    up, back = copy_of(before, tmp_path / "up"), copy_of(before, tmp_path / "back")
    send_more(NEW, up, topic=MORE, count=MORE_COUNT)
    send_more(OLD, back, topic=next(iter(TOPICS)), count=MORE_COUNT + 30)
    here, there = log_of(up), log_of(back)
    wanted = divergence_of(here, there)
    found_report, violations = compared(up, back)
    end = log_of(before).end
    assert_divergence(found_report, wanted, end=end)
    assert wanted.only_here[MORE, 0] > 100
    assert found_report["common"]["end"] == str(min(here.end, there.end))
    found = {one["invariant"] for one in violations}
    assert found == {"INV-AGAINST-001", "INV-AGAINST-002"}


def test_what_a_downgrade_cuts_off_is_told(tmp_path: Path) -> None:
    """It is REC-SCAN-012: a release before 5.0 ends the log at a long topic."""
    before = tmp_path / "before"
    write_long(NEW, before)
    after = copy_of(before, tmp_path / "after")
    send_more("4.9.7", after, topic=TOPIC, count=1)
    cut = log_of(after).records[-1].offset
    wanted = divergence_of(log_of(after), log_of(before))
    found_report, _ = compared(after, before)
    assert_divergence(found_report, wanted, end=cut)
    assert wanted.only_there[TOPIC, 0] == len(BODIES) - 1


def assert_divergence(
    found_report: dict[str, Any], wanted: Divergence, *, end: int
) -> None:
    """Compare a comparison with the decoders' result; *end* is the divergence."""
    assert found_report["verdict"] == "diverged"
    first = found_report["first_divergence"]
    assert first["record_offset"] == str(end)
    assert first["commit_log_offset"] == str(wanted.first_byte)
    sums = {
        name: sum(one[name] for one in found_report["ranges"])
        for name in ("only_here", "only_there", "changed")
    }
    assert sums == {
        "only_here": wanted.here,
        "only_there": wanted.there,
        "changed": wanted.changed,
    }
    assert found_report["ranges"][0]["begin"] == str(wanted.first_byte)
    assert counts(found_report, "only_here") == wanted.only_here
    assert counts(found_report, "only_there") == wanted.only_there
