"""Full flushes of the commit log, which alone advance the checkpoint's first time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect_that
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.pytest_plugin.known_settings import (
    configured,
    may_change_running,
    need_settings,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from conformance.store.workload import Outgoing, send_all
from conformance.store.written_store import SMALL_FILES
from spec.store.message_record import decode_record

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config")]

SELDOM = {
    # One is full, at the start; the next are for four pages and more.
    "flushIntervalCommitLog": "100",
    "flushCommitLogThoroughInterval": "600000",
    "flushConsumeQueueThoroughInterval": "1000",
}
"""A running broker reads these settings at each flush."""
LATER = {"flushDiskType": "ASYNC_FLUSH", "transientStorePoolEnable": "false"}
"""Settings of a running broker that does not flush each message."""
PAGES = bytes(5 * 4096)


@pytest.fixture
def lazy(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, target: Target
) -> Iterator[Target]:
    """Yield a target whose broker makes no full flushes of its commit log."""
    if may_change_running(pytestconfig, target):
        need_settings(target, LATER)
        with configured(target, SELDOM):
            yield target
    else:
        yield request.getfixturevalue("start_target")({**SMALL_FILES, **SELDOM})


def has_unit_since(files: StoreFiles, stored_ms: int) -> bool:
    """Return whether the checkpoint covers a unit of that time."""
    return files.checkpoint().logics_ms >= stored_ms


@pytest.mark.restores
@pytest.mark.clause("STORE-FLUSH-004")
def test_the_checkpoint_waits_for_a_full_flush(lazy: Target) -> None:
    topic = create_topic(lazy, unique_name("flush"))
    assert lazy.store_path is not None
    files = StoreFiles(lazy.store_path)
    sent_ms = []
    with lazy.connect_for_admin() as client:
        for body in (b"first", PAGES, b"last"):
            (sent,) = send_all(lazy, [Outgoing(topic=topic, body=body)])
            viewed = client.view_message(commit_log_offset=sent.commit_log_offset)
            sent_ms.append(decode_record(viewed.body).stored_at_ms)
            wait_until(
                partial(has_unit_since, files, sent_ms[-1]),
                what="the checkpoint covers the queue's unit of a message",
                timeout_s=150,  # units are flushed each minute, on an idle machine
            )
    # A full flush may have found the first message, if that was quick.
    found = files.checkpoint().physic_ms
    expect_that(
        "STORE-FLUSH-004",
        found < sent_ms[1],
        found=found,
        expected=f"less than {sent_ms[1]}, when the second message was stored",
        what="first time, milliseconds",
    )
