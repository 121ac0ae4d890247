"""
A broker without a process: its files are in memory, its clock is an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.broker_controller import BrokerController
from reference.core.remoting.effects import Effect, Send
from reference.core.store.mapped.files import Files
from reference.core.store.message_store import MessageStore
from reference.tests.memory_files import MemoryFiles
from spec.host import Host
from spec.wire.remoting.command import Command, decode_command, encode_command

NOON_MS = 1_700_000_000_000
CLIENT = Host.of("127.0.0.1", 40000)
SMALL = {
    "mappedFileSizeCommitLog": "65536",
    "mappedFileSizeConsumeQueue": "2000",
    "maxHashSlotNum": "50",
    "maxIndexNum": "200",
}


class BrokerDriver:
    """A broker and the connections of a test to it."""

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        files: Files | None = None,
    ) -> None:
        options = BrokerOptions({**SMALL, **(settings or {})})
        self.files: Files = MemoryFiles() if files is None else files
        store = MessageStore(self.files, options.store_options(), NOON_MS)
        self.now_ms = NOON_MS
        self.broker = BrokerController(options, store, now_ms=NOON_MS)
        self._opaque = 0
        self._inbox: dict[int, list[Command]] = {}

    def connect(self, connection: int) -> None:
        """Open a connection under a number."""
        self._inbox[connection] = []
        self.broker.connection_made(connection, CLIENT)

    def disconnect(self, connection: int) -> None:
        """Lose a connection."""
        self._note(self.broker.connection_lost(connection, self.now_ms))

    def invoke(
        self,
        connection: int,
        code: int,
        fields: Mapping[str, object],
        body: bytes = b"",
    ) -> list[Command]:
        """Send a request; return what has come back on that connection by then."""
        self.send(connection, code, fields, body)
        return self.inbox(connection)

    def send(
        self,
        connection: int,
        code: int,
        fields: Mapping[str, object],
        body: bytes = b"",
    ) -> int:
        """Send a request; return its number, which its response will have."""
        self._opaque += 1
        texts = {name: str(value) for name, value in fields.items()}
        command = Command(code=code, opaque=self._opaque, fields=texts, body=body)
        self.hand(connection, encode_command(command))
        return self._opaque

    def hand(self, connection: int, data: bytes) -> None:
        """Let bytes come in on a connection."""
        self._note(self.broker.data_received(connection, data, self.now_ms))
        self._note(self.broker.reads_completed(self.now_ms))

    def wait(self, duration_ms: int) -> None:
        """Let time pass."""
        self.now_ms += duration_ms
        self._note(self.broker.timer_expired(self.now_ms))

    def inbox(self, connection: int) -> list[Command]:
        """Return, once, what has come in on a connection."""
        received, self._inbox[connection] = self._inbox[connection], []
        return received

    def _note(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self._inbox[effect.connection] += _commands(effect.data)


def send_fields(topic: str, queue_id: int = 0, **more: object) -> dict[str, object]:
    """Return the header fields of a SEND_MESSAGE."""
    return {
        "producerGroup": "producers",
        "topic": topic,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "queueId": queue_id,
        "sysFlag": 0,
        "bornTimestamp": NOON_MS,
        "flag": 0,
        **more,
    }


def pull_fields(topic: str, offset: int = 0, **more: object) -> dict[str, object]:
    """Return the header fields of a PULL_MESSAGE that may wait for a second."""
    return {
        "consumerGroup": "consumers",
        "topic": topic,
        "queueId": 0,
        "queueOffset": offset,
        "maxMsgNums": 32,
        "sysFlag": 6,
        "commitOffset": 0,
        "suspendTimeoutMillis": 1000,
        "subscription": "*",
        "subVersion": 0,
        **more,
    }


def _commands(data: bytes) -> list[Command]:
    commands = []
    while data:
        size = 4 + int.from_bytes(data[:4], "big")
        commands.append(decode_command(data[:size]))
        data = data[size:]
    return commands
