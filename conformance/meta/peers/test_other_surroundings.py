"""Suites on peers with another clock or another form of responses than expected."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import cast
from unittest.mock import Mock

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.client.client import Client, now_ms
from conformance.messaging import stored_messages
from conformance.meta.peers.lying_cluster import lying_cluster
from spec.store.message_record import Record
from spec.wire.remoting.frame import SerializeType

SUITES = Path(__file__).parents[2]
HOUR_MS = 3_600_000


def test_messages_are_sent_apart_by_any_clock_of_the_broker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def record_of(*_: object) -> Record:
        return Record(
            topic="T",
            queue_id=0,
            queue_offset=0,
            physical_offset=0,
            stored_at_ms=now_ms() + HOUR_MS,
        )

    monkeypatch.setattr(stored_messages, "record_of", record_of)
    times = stored_messages.send_apart(cast("Client", Mock()), "T", 3)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= stored_messages.GAP_MS


def test_a_header_in_rocketmq_notation_is_no_error_of_the_suite() -> None:
    file = SUITES / "wire" / "test_header_json.py"
    with lying_cluster(serialize_type=SerializeType.ROCKETMQ) as cluster:
        ended = run_child(
            [file], f"--target={cluster.address}", "-k", "has_the_members_of"
        )
    assert ended.outcomes["WIRE-FRAME-003"] == "fail"
    assert "error" not in ended.outcomes.values()
