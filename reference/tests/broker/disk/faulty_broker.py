"""A broker on a faulty disk: its work, and the state it must reach afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reference.core.remoting.effects import Effect, Flush, LogError
from reference.core.store.mapped.files import Files, FilesError
from reference.tests.broker.broker_driver import (
    NOON_MS,
    BrokerDriver,
    pull_fields,
    send_fields,
)
from spec.store.config.config_files import CONSUMER_OFFSETS_FILE
from spec.store.message_record import decode_records
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CLIENT = 1
SETTINGS = {"mappedFileSizeCommitLog": "2048", "mappedFileSizeConsumeQueue": "200"}
STEP_MS = 100
RESUMES_MS = 2_000
"""Time within which everything goes on after the last refusal."""


class Faulty(BrokerDriver):
    """A broker on a faulty disk, and the messages that it has acknowledged."""

    def __init__(self, files: Files) -> None:
        self.lines: list[str] = []
        self.acknowledged: list[bytes] = []
        super().__init__(SETTINGS, files)
        self.disk = files
        self.connect(CLIENT)
        self.broker.start([], NOON_MS)
        self._note(self.broker.take_effects())

    def _note(self, effects: Iterable[Effect]) -> None:
        effects = list(effects)
        super()._note(effects)
        for effect in effects:
            if isinstance(effect, LogError):
                self.lines.append(effect.text)
            if isinstance(effect, Flush):
                self._flush(effect)

    def _flush(self, effect: Flush) -> None:
        error = ""
        try:
            for file in effect.files:
                file.flush()
        except FilesError as refused:
            error = str(refused)
        self._note(self.broker.flush_completed(effect, error, self.now_ms))

    def produce(self, topic: str, body: bytes, properties: str = "") -> bool:
        """Send a message; return whether it was acknowledged."""
        fields = send_fields(topic, properties=properties)
        (response,) = self.invoke(CLIENT, RequestCode.SEND_MESSAGE, fields, body)
        if response.code == ResponseCode.SUCCESS:
            self.acknowledged.append(body)
            return True
        return False

    def consume(self, topic: str) -> list[bytes]:
        """Return the bodies in queue 0 of *topic*."""
        bodies: list[bytes] = []
        offset = 0
        while True:
            fields = pull_fields(topic, offset, sysFlag=4)
            (response,) = self.invoke(CLIENT, RequestCode.PULL_MESSAGE, fields)
            if response.code != ResponseCode.SUCCESS:
                return bodies
            bodies += [record.body for record in decode_records(response.body)]
            offset = int(response.fields["nextBeginOffset"])

    def commit(self, offset: int) -> None:
        """Commit an offset of the consumers."""
        fields = {"consumerGroup": "consumers", "topic": "T", "queueId": 0}
        request = RequestCode.UPDATE_CONSUMER_OFFSET
        self.invoke(CLIENT, request, {**fields, "commitOffset": offset})

    def work(self) -> None:
        """Send, consume, commit and let time pass; what needs no disk must go on."""
        for number in range(12):
            self.produce("T", b"%d" % number * 300, f"KEYS\x01k{number}\x02")
            if number % 4 == 0:
                self.produce("T", b"delayed %d" % number, "DELAY\x011\x02")
            self.produce(f"New{number // 4}", b"new %d" % number)
            self.commit(number)
            for _ in range(4):
                self.wait(STEP_MS)
            assert self.consume("T")[:1] == [b"first"]
        for _ in range(60):
            self.wait(STEP_MS)

    def all_bodies(self) -> Counter[bytes]:
        """Return the number of copies of each body in the queues."""
        return Counter(
            b for name in ("T", "New0", "New1", "New2") for b in self.consume(name)
        )


def started_on(files: Files) -> Faulty:
    """Return a broker with one message, before any fault."""
    driver = Faulty(files)
    assert driver.produce("T", b"first")
    driver.wait(STEP_MS)
    return driver


def assert_resumes(driver: Faulty) -> int:
    """Assert that everything goes on within two seconds of a fault's end, and is safe.

    Return the milliseconds until all acknowledged messages could be read.
    """
    start_ms = driver.now_ms
    end_ms = start_ms + RESUMES_MS
    assert driver.produce("T", b"behind")
    driver.commit(77)
    while not resumed(driver):
        assert driver.now_ms < end_ms, driver.lines[-3:]
        driver.wait(STEP_MS)
    resumed_ms = driver.now_ms
    assert_nothing_lost(driver)
    return resumed_ms - start_ms


def resumed(driver: Faulty) -> bool:
    """Return whether all that was acknowledged is readable, and offsets persist."""
    found = driver.all_bodies()
    return all(found[body] for body in driver.acknowledged)


def assert_nothing_lost(driver: Faulty) -> None:
    """Assert that a restart after a kill has every acknowledged message once."""
    for _ in range(100):
        driver.wait(STEP_MS)
    text = driver.disk.read_text(f"config/{CONSUMER_OFFSETS_FILE}") or ""
    assert "0:77" in text
    driver.disk.unlock()
    again = Faulty(driver.disk)
    for _ in range(20):
        again.wait(STEP_MS)
    found = again.all_bodies()
    for body in driver.acknowledged:
        is_delayed = body.startswith(b"delayed")
        assert found[body] == 1 or (is_delayed and found[body] > 1), body
