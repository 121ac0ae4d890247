"""Many changes by one read: one write of each table, and one registration."""

from __future__ import annotations

import json

import pytest

from reference.core.remoting.effects import Connect, LogError, Send
from reference.tests.broker.broker_driver import NOON_MS, BrokerDriver, send_fields
from reference.tests.memory_files import MemoryFiles
from spec.host import Host
from spec.routing.broker_registration import decode_registration
from spec.store.config.config_files import GROUPS_FILE, TOPICS_FILE
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode

COUNT = 20
CLIENT, NAME_SERVER = 1, 2
FILES = {f"config/{TOPICS_FILE}", f"config/{GROUPS_FILE}"}


class CountedFiles(MemoryFiles):
    """Files that count the writes of each table."""

    def __init__(self) -> None:
        super().__init__()
        self.replaced: list[str] = []
        self.error: Exception | None = None
        """Raised by each write of a table."""

    def replace_text(self, path: str, text: str) -> None:
        """Replace the text, or raise the error of the test."""
        if path in FILES:
            self.replaced.append(path)
            if self.error is not None:
                raise self.error
        super().replace_text(path, text)


@pytest.fixture
def files() -> CountedFiles:
    """Return files in memory."""
    return CountedFiles()


@pytest.fixture
def driver(files: CountedFiles) -> BrokerDriver:
    """Return a broker with one client, which is registered with a name server."""
    driver = BrokerDriver(files=files)
    driver.connect(CLIENT)
    broker = driver.broker
    broker.start([Host.of("127.0.0.1", 9876)], NOON_MS)
    (connect,) = [e for e in broker.take_effects() if isinstance(e, Connect)]
    broker.connect_completed(connect, NAME_SERVER, NOON_MS)
    files.replaced.clear()
    return driver


def heartbeat() -> bytes:
    """Return the frame of a heartbeat with new groups."""
    groups = [{"groupName": f"g{number}"} for number in range(COUNT)]
    body = json.dumps({"clientID": "c", "consumerDataSet": groups}).encode()
    return encode_command(Command(code=RequestCode.HEART_BEAT, opaque=1, body=body))


def sends() -> bytes:
    """Return the frames of messages to new topics."""
    frames = []
    for number in range(COUNT):
        fields = send_fields(f"T{number}")
        texts = {name: str(value) for name, value in fields.items()}
        code = RequestCode.SEND_MESSAGE
        frames.append(encode_command(Command(code=code, fields=texts)))
    return b"".join(frames)


def registered(driver: BrokerDriver, data: bytes) -> list[set[str]]:
    """Return the topics of each registration that the bytes of a client lead to."""
    effects = driver.broker.data_received(CLIENT, data, NOON_MS)
    commands = [
        decode_command(one.data)
        for one in effects
        if isinstance(one, Send) and one.connection == NAME_SERVER
    ]
    return [set(decode_registration(one.body).topics.topics) for one in commands]


def test_a_heartbeat_with_many_groups_writes_each_table_once(
    driver: BrokerDriver, files: CountedFiles
) -> None:
    (topics,) = registered(driver, heartbeat())
    assert sorted(files.replaced) == sorted(FILES)
    assert {f"%RETRY%g{number}" for number in range(COUNT)} <= topics


def test_many_new_topics_of_one_read_are_written_once(
    driver: BrokerDriver, files: CountedFiles
) -> None:
    (topics,) = registered(driver, sends())
    assert files.replaced == [f"config/{TOPICS_FILE}"]
    assert {f"T{number}" for number in range(COUNT)} <= topics
    text = files.read_text(f"config/{TOPICS_FILE}") or ""
    assert {f"T{number}" for number in range(COUNT)} <= topics & {
        *json.loads(text)["topicConfigTable"]
    }


def test_an_unexpected_error_of_a_write_keeps_no_response_back(
    driver: BrokerDriver, files: CountedFiles
) -> None:
    files.error = ValueError("no such text")
    effects = driver.broker.data_received(CLIENT, heartbeat(), NOON_MS)
    responses = [e for e in effects if isinstance(e, Send) and e.connection == CLIENT]
    assert responses
    lines = [one.text for one in effects if isinstance(one, LogError)]
    line = "not persisted, to be retried: ValueError: no such text"
    assert lines == [line] * len(FILES)
    files.error = None
    driver.wait(2_000)
    assert files.read_text(f"config/{TOPICS_FILE}")
