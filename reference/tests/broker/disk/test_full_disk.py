"""Without space for the configuration files, requests are served; then they persist."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from reference.core.store.mapped.files import FilesError
from reference.tests.broker.broker_driver import (
    NOON_MS,
    BrokerDriver,
    pull_fields,
    send_fields,
)
from spec.store.config.config_files import (
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
)
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CLIENT = 1
FULL_MS = 60_000


class FullDisk(BrokerDriver):
    """A broker whose disk has no space for files that are written as a whole."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.connect(CLIENT)
        self.broker.start([], NOON_MS)
        self.invoke(CLIENT, RequestCode.SEND_MESSAGE, send_fields("T"), b"first")
        self._write = self.files.replace_text
        self._is_full = True
        monkeypatch.setattr(self.files, "replace_text", self.replace_text)

    def replace_text(self, path: str, text: str) -> None:
        """Write a file, or refuse it."""
        if self._is_full:
            raise FilesError("no space left on device")
        self._write(path, text)

    def free(self) -> None:
        """Have space again."""
        self._is_full = False

    def wait_until(self, condition: Callable[[], bool], most_ms: int) -> None:
        """Let at most *most_ms* pass until *condition* holds."""
        end_ms = self.now_ms + most_ms
        while not condition():
            assert self.now_ms < end_ms
            self.wait(100)

    def has(self, name: str, word: str) -> bool:
        """Return whether a configuration file contains *word*."""
        return word in (self.files.read_text(f"config/{name}") or "")


def test_a_new_group_pulls_from_a_broker_on_a_full_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = FullDisk(monkeypatch)
    (response,) = driver.invoke(CLIENT, RequestCode.PULL_MESSAGE, pull_fields("T"))
    assert response.code == ResponseCode.SUCCESS
    driver.wait(FULL_MS)
    driver.free()
    driver.wait_until(lambda: driver.has(GROUPS_FILE, "consumers"), 2000)
    group = json.loads(driver.files.read_text(f"config/{GROUPS_FILE}") or "")
    assert "consumers" in group["subscriptionGroupTable"]


def test_a_new_topic_is_served_on_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FullDisk(monkeypatch)
    fields = send_fields("New")
    (response,) = driver.invoke(CLIENT, RequestCode.SEND_MESSAGE, fields, b"body")
    assert response.code == ResponseCode.SUCCESS
    driver.free()
    driver.wait_until(lambda: driver.has(TOPICS_FILE, '"New"'), 2000)


def test_offsets_and_delayed_messages_go_on_after_a_minute_without_space(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = FullDisk(monkeypatch)
    later = send_fields("T", properties="DELAY\x011\x02")
    driver.invoke(CLIENT, RequestCode.SEND_MESSAGE, later, b"delayed")
    commit = {
        "consumerGroup": "consumers",
        "topic": "T",
        "queueId": 0,
        "commitOffset": 1,
    }
    driver.invoke(CLIENT, RequestCode.UPDATE_CONSUMER_OFFSET, commit)
    store = driver.broker.state.store
    driver.wait_until(lambda: store.max_offset("T", 0) == 2, 2000)
    for _ in range(FULL_MS // 100):
        driver.wait(100)
    assert not driver.has(CONSUMER_OFFSETS_FILE, "T@consumers")
    driver.free()
    driver.wait_until(lambda: driver.has(CONSUMER_OFFSETS_FILE, "T@consumers"), 2000)
    driver.wait_until(lambda: driver.has(DELAY_OFFSETS_FILE, "1:1"), 2000)


def test_a_file_that_stays_refused_does_not_delay_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = FullDisk(monkeypatch)
    driver.invoke(CLIENT, RequestCode.SEND_MESSAGE, send_fields("New"), b"body")
    driver.invoke(CLIENT, RequestCode.PULL_MESSAGE, pull_fields("T"))
    write = driver._write

    def refuse_topics(path: str, text: str) -> None:
        if TOPICS_FILE in path:
            raise FilesError("topics.json.tmp is a directory")
        write(path, text)

    monkeypatch.setattr(driver, "_write", refuse_topics)
    driver.free()
    driver.wait_until(lambda: driver.has(GROUPS_FILE, "consumers"), 2000)
    assert not driver.has(TOPICS_FILE, '"New"')
