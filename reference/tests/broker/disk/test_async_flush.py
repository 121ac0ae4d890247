"""ASYNC_FLUSH: times of the broker's flushes, and the checkpoint's content."""

from __future__ import annotations

from reference.tests.broker.broker_driver import NOON_MS, pull_fields, send_fields
from reference.tests.broker.disk.slow_disk import SlowDisk
from reference.tests.memory_files import MemoryFiles
from spec.store.checkpoint import decode_checkpoint
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

FIVE_PAGES = bytes(5 * 4096)


def sent(driver: SlowDisk, body: bytes = b"small") -> str:
    """Send a message, and return its id."""
    (response,) = driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), body)
    assert response.code == ResponseCode.SUCCESS
    return response.fields["msgId"]


def checkpoint_times(driver: SlowDisk) -> tuple[int, int]:
    """Return the times of log and queues that are in the checkpoint's file."""
    assert isinstance(driver.files, MemoryFiles)
    found = decode_checkpoint(bytes(driver.files.mapped["checkpoint"].bytes))
    return found.physic_ms, found.logics_ms


def waited(driver: SlowDisk, duration_ms: int) -> bool:
    """Let time pass in small steps; return whether the log was flushed meanwhile."""
    before = driver.on_disk
    for _ in range(duration_ms // 100):
        driver.wait(100)
        driver.flush_all()
    return driver.on_disk > before


def test_a_few_pages_are_flushed_soon_and_less_is_now_and_then() -> None:
    driver = SlowDisk()
    driver.connect(1)
    sent(driver)
    assert waited(driver, 500)  # the first round takes everything
    sent(driver)
    assert not waited(driver, 9_500)
    assert waited(driver, 500)
    end = driver.end_of(sent(driver, FIVE_PAGES))
    assert waited(driver, 500)
    assert driver.on_disk == end


def test_the_checkpoint_vouches_for_thorough_rounds_only() -> None:
    driver = SlowDisk()
    driver.connect(1)
    sent(driver)
    waited(driver, 1_000)
    assert checkpoint_times(driver) == (NOON_MS, NOON_MS)
    sent(driver, FIVE_PAGES)
    assert waited(driver, 500)
    second_ms = NOON_MS + 1_000
    assert driver.broker.state.store.checkpoint.physic_ms == NOON_MS
    waited(driver, 58_500)
    assert checkpoint_times(driver) == (NOON_MS, NOON_MS)
    assert driver.broker.state.store.checkpoint.physic_ms == second_ms
    waited(driver, 2_000)
    assert checkpoint_times(driver) == (second_ms, second_ms)


def test_a_pool_is_emptied_in_rounds_and_wakes_who_waits() -> None:
    driver = SlowDisk({"transientStorePoolEnable": "true"})
    driver.connect(1)
    driver.connect(2)
    sent(driver)
    driver.wait(200)
    assert driver.invoke(2, RequestCode.PULL_MESSAGE, pull_fields("T", offset=1)) == []
    sent(driver)
    assert driver.inbox(2) == []
    driver.wait(100)
    assert driver.inbox(2) == []
    driver.wait(100)
    assert [response.code for response in driver.inbox(2)] == [ResponseCode.SUCCESS]
    assert driver.invoke(2, RequestCode.PULL_MESSAGE, pull_fields("T", offset=2)) == []
    sent(driver, FIVE_PAGES)
    assert [response.code for response in driver.inbox(2)] == [ResponseCode.SUCCESS]


def test_a_pool_without_a_free_buffer_turns_away_who_puts() -> None:
    settings = {"transientStorePoolEnable": "true", "transientStorePoolSize": "2"}
    driver = SlowDisk(settings)
    driver.connect(1)
    sent(driver)
    requests: list[tuple[int, dict[str, object]]] = [
        (RequestCode.SEND_MESSAGE, send_fields("T")),
        (RequestCode.SEND_MESSAGE, send_fields("T", batch="true")),
        (RequestCode.CONSUMER_SEND_MSG_BACK, {"group": "g", "offset": 0}),
    ]
    for code, fields in requests:
        (response,) = driver.invoke(1, code, fields, b"body")
        assert response.code == ResponseCode.SYSTEM_BUSY
