"""ASYNC_FLUSH: times of the broker's flushes, and the checkpoint's content."""

from __future__ import annotations

from reference.tests.broker.making import NOON_MS, pull_fields, send_fields
from reference.tests.broker.slow_disk import SlowDisk
from reference.tests.memory_files import MemoryFiles
from spec.store.checkpoint import decode_checkpoint
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

FIVE_PAGES = bytes(5 * 4096)


def sent(stage: SlowDisk, body: bytes = b"small") -> str:
    """Send a message, and return its id."""
    (answer,) = stage.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), body)
    assert answer.code == ResponseCode.SUCCESS
    return answer.fields["msgId"]


def checkpoint_times(stage: SlowDisk) -> tuple[int, int]:
    """Return the times of log and queues that are in the checkpoint's file."""
    assert isinstance(stage.files, MemoryFiles)
    found = decode_checkpoint(bytes(stage.files.mapped["checkpoint"].bytes))
    return found.physic_ms, found.logics_ms


def waited(stage: SlowDisk, duration_ms: int) -> bool:
    """Let time pass in small steps; return whether the log was flushed meanwhile."""
    before = stage.on_disk
    for _ in range(duration_ms // 100):
        stage.wait(100)
        stage.flush_all()
    return stage.on_disk > before


def test_a_few_pages_are_flushed_soon_and_less_is_now_and_then() -> None:
    stage = SlowDisk()
    stage.connect(1)
    sent(stage)
    assert waited(stage, 500)  # the first round takes everything
    sent(stage)
    assert not waited(stage, 9_500)
    assert waited(stage, 500)
    end = stage.end_of(sent(stage, FIVE_PAGES))
    assert waited(stage, 500)
    assert stage.on_disk == end


def test_the_checkpoint_vouches_for_thorough_rounds_only() -> None:
    stage = SlowDisk()
    stage.connect(1)
    sent(stage)
    waited(stage, 1_000)
    assert checkpoint_times(stage) == (NOON_MS, NOON_MS)
    sent(stage, FIVE_PAGES)
    assert waited(stage, 500)
    second_ms = NOON_MS + 1_000
    assert stage.broker.state.store.checkpoint.physic_ms == NOON_MS
    waited(stage, 58_500)
    assert checkpoint_times(stage) == (NOON_MS, NOON_MS)
    assert stage.broker.state.store.checkpoint.physic_ms == second_ms
    waited(stage, 2_000)
    assert checkpoint_times(stage) == (second_ms, second_ms)


def test_a_pool_is_emptied_in_rounds_and_wakes_who_waits() -> None:
    stage = SlowDisk({"transientStorePoolEnable": "true"})
    stage.connect(1)
    stage.connect(2)
    sent(stage)
    stage.wait(200)
    assert stage.invoke(2, RequestCode.PULL_MESSAGE, pull_fields("T", offset=1)) == []
    sent(stage)
    assert stage.inbox(2) == []
    stage.wait(100)
    assert stage.inbox(2) == []
    stage.wait(100)
    assert [answer.code for answer in stage.inbox(2)] == [ResponseCode.SUCCESS]
    assert stage.invoke(2, RequestCode.PULL_MESSAGE, pull_fields("T", offset=2)) == []
    sent(stage, FIVE_PAGES)
    assert [answer.code for answer in stage.inbox(2)] == [ResponseCode.SUCCESS]


def test_a_pool_without_a_free_buffer_turns_away_who_puts() -> None:
    settings = {"transientStorePoolEnable": "true", "transientStorePoolSize": "2"}
    stage = SlowDisk(settings)
    stage.connect(1)
    sent(stage)
    requests: list[tuple[int, dict[str, object]]] = [
        (RequestCode.SEND_MESSAGE, send_fields("T")),
        (RequestCode.SEND_MESSAGE, send_fields("T", batch="true")),
        (RequestCode.CONSUMER_SEND_MSG_BACK, {"group": "g", "offset": 0}),
    ]
    for code, fields in requests:
        (answer,) = stage.invoke(1, code, fields, b"body")
        assert answer.code == ResponseCode.SYSTEM_BUSY
