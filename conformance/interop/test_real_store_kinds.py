"""
Audits of stores of every kind that real releases leave have no finding.

Some brokers served every feature of their Java client, popped messages and timers. Some
let files expire, built queues again, or had an IPv6 address. Others went on with the
store of another release.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.harness.releases import PINNED
from conformance.interop.stores.features import leave_features
from conformance.interop.stores.pop_store import leave_popped
from conformance.interop.stores.undamaged_stores import (
    leave_copies,
    leave_expired,
    leave_ipv6,
    leave_rebuilt,
    leave_successions,
)
from conformance.interop.tools.audit_command import audited, finding_lines
from spec.clause import release_key
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    OP_TOPIC,
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


@pytest.mark.parametrize("release", PINNED)
def test_the_moving_end_of_a_copy_is_a_warning(release: str, tmp_path: Path) -> None:
    stores = leave_copies(release, tmp_path)
    for one, store in zip(audited(*stores.values()), stores, strict=True):
        assert (store, one["verdict"]) == (store, "pass"), finding_lines(one)


def test_releases_that_go_on_with_each_other_give_no_finding(tmp_path: Path) -> None:
    stores = leave_successions(tmp_path)
    for one, name in zip(audited(*stores.values()), stores, strict=True):
        assert (name, finding_lines(one)) == (name, [])
