"""Local offsets of a broadcasting consumer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reference.core.client.effects import PersistOffsets
from reference.core.client.message import MessageQueue
from reference.core.client.options import ConsumerOptions
from reference.shell.client.client_host import ClientHost
from reference.shell.client.local_offset_store import LocalOffsetStore
from reference.tests.client.peers import offset_of, record
from reference.tests.client.push_peers import PushPeers
from spec.client.local_offsets import BACKUP, FILE

FIRST, SECOND = MessageQueue("T", "a", 0), MessageQueue("T", "b", 1)
JAVAS = (
    b'{\n\t"offsetTable":{{\n\t\t\t"brokerName":"a",\n\t\t\t"queueId":0,'
    b'\n\t\t\t"topic":"T"\n\t\t}:7\n\t}\n}'
)


@pytest.fixture
def store(tmp_path: Path) -> LocalOffsetStore:
    return LocalOffsetStore(tmp_path, "me@1", "g")


@pytest.mark.parametrize("offsets", [{}, {FIRST: 3, SECOND: 2**40}])
def test_what_is_written_is_read(
    store: LocalOffsetStore, offsets: dict[MessageQueue, int]
) -> None:
    store.persist(offsets)
    assert store.read() == offsets


def test_what_java_writes_is_read(store: LocalOffsetStore) -> None:
    store.persist({})
    (store.folder / FILE).write_bytes(JAVAS)
    assert store.read() == {FIRST: 7}


@pytest.mark.parametrize("bad", [b"", b"{", b"[]", b'{"offsetTable":[]}'])
def test_where_the_file_cannot_be_read_the_one_before_counts(
    store: LocalOffsetStore, bad: bytes
) -> None:
    store.persist({})
    (store.folder / FILE).write_bytes(bad)
    (store.folder / BACKUP).write_bytes(JAVAS)
    assert store.read() == {FIRST: 7}
    (store.folder / BACKUP).write_bytes(bad)
    assert store.read() == {}


def test_a_file_and_the_one_before_it_are_kept(store: LocalOffsetStore) -> None:
    assert store.read() == {}
    store.persist({FIRST: 1})
    store.persist({FIRST: 2})
    assert store.read() == {FIRST: 2}
    (store.folder / FILE).write_bytes(b"")
    assert store.read() == {FIRST: 1}


def test_a_broadcasting_member_persists_its_offset_and_begins_there() -> None:
    peers = PushPeers(broadcasts=True, from_first=True)
    peers.start()
    peers.find(peers.pull(), record(0), record(1))
    (delivery,) = peers.delivered()
    peers.consumed(delivery.queue, delivery.messages[:1])
    peers.consumer.stop()
    peers.go_on()
    assert peers.world.persisted == {FIRST: 1}

    again = PushPeers(broadcasts=True, from_first=True)
    again.world.client.local_offsets.update(peers.world.persisted)
    again.start()
    assert offset_of(again.pull()) == 1


def test_a_full_disk_leaves_the_other_effects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "file"
    folder.write_bytes(b"")

    async def run() -> bool:
        host = ClientHost(
            "127.0.0.1:9876",
            ConsumerOptions(group="g", topic="T"),
            offset_folder=folder,
        )
        host.client.rpc.emit(PersistOffsets({FIRST: 3}))
        host.client.rpc.call_later(0, lambda: None)
        host.perform()
        is_set = host._timer is not None
        await host.stop()
        return is_set

    assert asyncio.run(run())
    assert "offsets are not persisted: " in capsys.readouterr().err
