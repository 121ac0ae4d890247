"""A slave's reaction to replicated data, sent by a scripted master."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from conformance.harness.client.requests.messages import now_ms
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.targets.target import Capability
from conformance.store.replication.fake_master import SlaveLink, record
from conformance.store.replication.slave_under_test import (
    LOG_FILE_SIZE,
    MESSAGES,
    TOPIC,
    Followed,
)
from spec.store.file_names import COMMIT_LOG, file_name

pytestmark = [
    pytest.mark.long,
    pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG),
]


@pytest.fixture
def link(followed: Followed) -> Iterator[SlaveLink]:
    """Yield a connection that the slave has opened and spoken on."""
    with closing(followed.link()) as one:
        yield one


@pytest.mark.clause("HA-TRANSFER-010", "HA-SLAVE-001")
def test_a_slave_names_its_logs_end_after_each_piece(followed: Followed) -> None:
    whole = len(followed.first)
    ends = [LOG_FILE_SIZE + size for size in (3, 200, whole - 30, whole)]
    expected = [0, *ends]
    found = list(dict.fromkeys(followed.reported))
    expect("HA-TRANSFER-010", found=found, expected=expected, what="offsets")


@pytest.mark.clause("HA-TRANSFER-013", "HA-SLAVE-002")
def test_a_slave_without_a_log_begins_where_it_is_told(followed: Followed) -> None:
    assert followed.target.store_path is not None
    files = sorted((followed.target.store_path / COMMIT_LOG).iterdir())
    name = file_name(LOG_FILE_SIZE)
    expect("HA-TRANSFER-013", found=files[0].name, expected=name, what="first file")
    copied = files[0].read_bytes()[: len(followed.log)]
    expect("HA-SLAVE-002", found=copied == followed.log, expected=True, what="same log")


@pytest.mark.clause("HA-TRANSFER-009", "HA-TRANSFER-016")
@pytest.mark.parametrize("distance", [-1, 1, LOG_FILE_SIZE])
def test_a_slave_hangs_up_where_a_piece_begins_elsewhere(
    followed: Followed, link: SlaveLink, distance: int
) -> None:
    link.send(followed.end + distance, b"elsewhere")
    expect("HA-TRANSFER-009", found=link.is_closed(), expected=True, what="hung up")
    with closing(followed.link()) as again:
        again.send(followed.end)  # a sign of life is no reason
        found = set(again.reports_in(1.5))
    expect("HA-TRANSFER-016", found=found, expected={followed.end}, what="offsets")


@pytest.mark.clause("HA-TRANSFER-015", "HA-TRANSFER-010")
def test_a_slave_names_nothing_that_it_does_not_have(
    followed: Followed, link: SlaveLink
) -> None:
    at = followed.end
    data = record(TOPIC, MESSAGES, at=at, stored_at_ms=now_ms())
    whole = at.to_bytes(8, "big") + len(data).to_bytes(4, "big") + data
    link.send_bytes(whole[:-1])
    found = link.reports_in(2.0)
    expect("HA-TRANSFER-010", found=bool(found), expected=True, what="it is alive")
    expect("HA-TRANSFER-015", found=set(found), expected={at}, what="offsets")
    link.send_bytes(whole[-1:])
    followed.end = at + len(data)
    followed.log += data
    assert link.report_until(followed.end)[-1] == followed.end


@pytest.mark.clause("HA-SLAVE-011")
def test_a_slave_delivers_nothing(followed: Followed, link: SlaveLink) -> None:
    long_ago_ms = now_ms() - 60_000
    data = record("", 0, at=followed.end, stored_at_ms=long_ago_ms, delayed=TOPIC)
    followed.end = link.send(followed.end, data)
    followed.log += data
    # It would be due immediately, and its delivery would extend the log.
    # A report from before the slave received this may still be in transit.
    found = {end for end in link.reports_in(3.0) if end >= followed.end}
    expect("HA-SLAVE-011", found=found, expected={followed.end}, what="ends")
