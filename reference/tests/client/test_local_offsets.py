"""How a broadcasting member keeps how far it has come."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.core.client.consumer import Consumer, ConsumerOptions
from reference.core.client.local_offsets import decode_offsets, encode_offsets
from reference.core.client.message import Queue
from reference.shell.client.offset_file import OffsetFile
from reference.tests.client.reading import Reading, offset_of, record
from spec.client.local_offsets import BACKUP, FILE

FIRST, SECOND = Queue("T", "a", 0), Queue("T", "b", 1)
JAVAS = (
    b'{\n\t"offsetTable":{{\n\t\t\t"brokerName":"a",\n\t\t\t"queueId":0,'
    b'\n\t\t\t"topic":"T"\n\t\t}:7\n\t}\n}'
)


@pytest.mark.parametrize("offsets", [{}, {FIRST: 3, SECOND: 2**40}])
def test_what_is_written_is_read(offsets: dict[Queue, int]) -> None:
    assert decode_offsets(encode_offsets(offsets)) == offsets


def test_what_java_writes_is_read() -> None:
    assert decode_offsets(JAVAS) == {FIRST: 7}


@pytest.mark.parametrize("bad", [b"", b"{", b"[]", b'{"offsetTable":[]}'])
def test_where_the_file_cannot_be_read_the_one_before_counts(bad: bytes) -> None:
    assert decode_offsets(bad, JAVAS) == {FIRST: 7}
    assert decode_offsets(bad, bad) == {}


def test_a_file_and_the_one_before_it_are_kept(tmp_path: Path) -> None:
    file = OffsetFile(tmp_path, "me@1", "g")
    assert file.read() == {}
    file.write({FIRST: 1})
    file.write({FIRST: 2})
    assert file.read() == {FIRST: 2}
    (tmp_path / "me@1" / "g" / FILE).write_bytes(b"")
    assert (tmp_path / "me@1" / "g" / BACKUP).exists()
    assert file.read() == {FIRST: 1}


def test_a_member_that_broadcasts_remembers_and_begins_there() -> None:
    reading = Reading(broadcasts=True, from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages[:1])
    reading.consumer.stop(reading.world.now_ms)
    reading.go_on()
    assert reading.world.remembered == {FIRST: 1}

    again = Reading(broadcasts=True, from_first=True)
    again.consumer = Consumer(
        ConsumerOptions(group="g", client_id="me", topic="T", broadcasts=True),
        asker=again.world.asker,
        routes=again.world.routes,
        now_ms=again.world.now_ms,
        remembered=reading.world.remembered,
    )
    again.start()
    assert offset_of(again.pull()) == 1
