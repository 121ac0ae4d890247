"""Files that releases write only with non-default settings are read as specified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spec.integers import java_string_hash, tags_code
from spec.store import batch_queue, queue_extension
from spec.store.commit_log import scan
from spec.store.config.filter_settings import FiltersFile
from spec.store.config.settings_files import FILES, OffsetsFile, encode_settings
from spec.store.consume_queue import decode_units
from spec.store.message_record import Record
from spec.store.timer import timer_log, timer_wheel
from spec.wire.bodies.fastjson import dumps, loads
from spec.wire.bodies.fastjson_forms import dumps_pretty, dumps_standard
from spec.wire.bodies.json_body import decode_body, encode_body
from spec.wire.ha.replication import Piece, decode_piece, decode_slave_offset
from spec.wire.ha.replication import size_of_piece as piece_size
from spec.wire.message.multi_dispatch import dispatches_of
from spec.wire.message.properties import decode_properties
from spec.wire.message.system_topics import real_place
from spec.wire.message.topic_names import TIMER_TOPIC
from spec.wire.pop.pop_bodies import (
    ACK_TAG,
    CHECKPOINT_TAG,
    REVIVE_TOPIC_PREFIX,
    AckMsg,
    PopCheckpoint,
)
from spec.wire.pop.pop_receipt import decode_popped_queues, encode_popped_queues
from spec.wire.remoting.command import decode_command
from spec.wire.send.batch_body import INNER_BATCH, NEED_UNWRAP, decode_batch

PARTS = Path(__file__).parents[3] / "fixtures" / "parts"
RELEASES = sorted(path.name for path in PARTS.iterdir() if "-" not in path.name)
SINCE_5 = [release for release in RELEASES if release >= "5"]
WITH_LIGHT_QUEUES = [release for release in RELEASES if release >= "4.9"]
TIMED = 9 + 2
"""Messages of the timer: nine that were sent, and the notes of a pop and of its ack."""
CONFIG = sorted(PARTS.glob("*/config/*")) + sorted(
    PARTS.parent.glob("store/*/config/*.json")
)


def name_of(path: Path) -> str:
    """Return the test id of *path*."""
    return f"{path.parts[-3]}-{path.name}"


def release_of(path: Path) -> str:
    """Return the release whose broker wrote *path*."""
    return path.parts[-3].partition("-")[0]


def files_of(release: str, place: str, *, size: int) -> dict[int, bytes]:
    """Return files by their first offset, with the zeros that were cut off."""
    files = sorted((PARTS / release / place).iterdir())
    return {int(file.name): file.read_bytes().ljust(size, b"\0") for file in files}


def log_of(release: str) -> dict[int, Record]:
    """Return the records of the commit log by their offset."""
    (data,) = files_of(release, "commitlog", size=65_536).values()
    return {placed.offset: placed.record for placed in scan(data).records}


def units_of(release: str, queue: str) -> list[tuple[int, Record]]:
    """Return tags code and record of each unit of a queue."""
    log = log_of(release)
    (data,) = files_of(release, f"consumequeue/{queue}", size=400).values()
    units = decode_units(data)
    return [(unit.tags_code, log[unit.commit_log_offset]) for unit in units]


@pytest.mark.parametrize("release", RELEASES)
def test_each_unit_names_an_extension_unit_of_its_message(release: str) -> None:
    files = files_of(release, "consumequeue_ext/PartsTopic/0", size=100)
    found = {
        begin + place: unit
        for begin, data in files.items()
        for place, unit in queue_extension.decode_extension_units(data).items()
    }
    units = units_of(release, "PartsTopic/0")
    assert len(units) == len(found) == 9
    for address, record in units:
        unit = found[queue_extension.offset_of_address(address)]
        assert unit.stored_at_ms == record.stored_at_ms
        tags = decode_properties(record.properties).get("TAGS")
        assert unit.tags_code == tags_code(tags)


@pytest.mark.parametrize("release", RELEASES)
def test_an_extensions_file_is_full_up_to_its_mark(release: str) -> None:
    files = list(files_of(release, "consumequeue_ext/PartsTopic/0", size=100).values())
    for data in files[:-1]:
        units = queue_extension.decode_extension_units(data)
        assert list(units) == [0, 34]
        assert data[68:70] == b"\xff\xff"
        for place, unit in units.items():
            again = queue_extension.encode_extension_unit(unit)
            assert data[place : place + 34] == again


@pytest.mark.parametrize("release", RELEASES)
def test_the_bits_of_a_message_say_which_expressions_it_matches(release: str) -> None:
    content = (PARTS / release / "config" / "consumerFilter.json").read_bytes()
    filters = decode_body(FiltersFile, content).topics["PartsTopic"].filters
    bits = filters["parts_group"].bits
    assert bits is not None
    files = files_of(release, "consumequeue_ext/PartsTopic/0", size=100)
    units = [
        unit
        for data in files.values()
        for unit in queue_extension.decode_extension_units(data).values()
    ]
    matching = [
        queue_extension.has_bits(unit.filter_bits, bits.positions) for unit in units
    ]
    # The expression is a > 1, and the first six messages have a from 0 to 5.
    assert matching == [False] * 2 + [True] * 4 + [False] * 3
    assert {8 * len(unit.filter_bits) for unit in units} == {bits.bit_count}


@pytest.mark.parametrize("release", WITH_LIGHT_QUEUES)
def test_a_message_stands_in_the_light_queues_that_it_names(release: str) -> None:
    for name in ("%LMQ%a", "%LMQ%b"):
        units = units_of(release, f"{name}/0")
        for number, (code, record) in enumerate(units):
            others = dispatches_of(decode_properties(record.properties))
            assert [(one.queue, one.queue_offset) for one in others] == [
                ("%LMQ%a", number),
                ("%LMQ%b", number),
            ]
            assert code == 0
        assert [record.body for _, record in units] == [b"light", b"light too"]


@pytest.mark.parametrize("release", SINCE_5)
def test_units_of_the_timer_are_chained_as_the_wheel_says(release: str) -> None:
    files = files_of(release, "timerlog", size=400)
    units = {
        begin + place: unit
        for begin, data in files.items()
        for place, unit in timer_log.decode_timer_units(data).items()
    }
    data = (PARTS / release / "timerwheel.slots").read_bytes()
    assert len(data) % 36 == 0
    reached = []
    for place in range(0, len(data), 36):
        slot = timer_wheel.decode_timer_slot(data[place + 4 : place + 36])
        number = int.from_bytes(data[place : place + 4], "big")
        assert timer_wheel.slot_index(slot.time * 1000) == number
        position, chain = slot.last_position, [slot.last_position]
        while (position := units[position].previous_position) >= 0:
            chain.append(position)
        assert chain[-1] == slot.first_position
        assert len(chain) == slot.message_count
        assert {units[position].due_at_ms for position in chain} == {slot.time * 1000}
        reached += chain
    assert sorted(reached) == sorted(units)
    assert len(units) == TIMED


@pytest.mark.parametrize("release", SINCE_5)
def test_a_timer_unit_points_at_a_message_that_waits(release: str) -> None:
    log = log_of(release)
    (first, _) = files_of(release, "timerlog", size=400).values()
    units = timer_log.decode_timer_units(first)
    assert first[364:380] == timer_log.encode_timer_blank(36)
    for place, unit in units.items():
        record = log[unit.commit_log_offset]
        properties = decode_properties(record.properties)
        assert record.topic == TIMER_TOPIC
        assert unit.topic_hash == java_string_hash(real_place(properties).topic)
        assert unit.due_at_ms == int(properties["TIMER_OUT_MS"])
        assert timer_log.encode_timer_unit(unit) == first[place : place + 52]


@pytest.mark.parametrize("release", SINCE_5)
def test_the_timers_checkpoint_has_read_every_message(release: str) -> None:
    data = (PARTS / release / "config" / "timercheck").read_bytes().ljust(56, b"\0")
    checkpoint = timer_wheel.decode_timer_checkpoint(data)
    assert checkpoint.queue_offset == TIMED
    assert checkpoint.flushed_position == 400 + (TIMED - 7) * 52
    assert timer_wheel.encode_timer_checkpoint(checkpoint) == data


@pytest.mark.parametrize("release", SINCE_5)
def test_a_batch_is_one_record_and_one_unit(release: str) -> None:
    log = log_of(release)
    data = files_of(release, "batchconsumequeue/PartsBatches/0", size=184)[0]
    units = batch_queue.decode_batch_units(data)
    assert [(u.first_queue_offset, u.message_count) for u in units] == [
        (0, 2),
        (2, 1),
        (3, 3),
    ]
    for number, unit in enumerate(units):
        record = log[unit.commit_log_offset]
        again = batch_queue.encode_batch_unit(unit)
        assert again == data[46 * number : 46 * number + 46]
        assert unit.stored_at_ms == record.stored_at_ms
        assert record.system_flags & (INNER_BATCH | NEED_UNWRAP) == 192
        inner = list(decode_batch(record.body))
        properties = decode_properties(record.properties)
        assert int(properties["INNER_NUM"]) == len(inner) == unit.message_count


@pytest.mark.parametrize("release", SINCE_5)
def test_an_answer_to_a_pop_and_its_notes_name_the_same_messages(release: str) -> None:
    response = decode_command((PARTS / release / "pop.answer").read_bytes()).fields
    (queue,) = decode_popped_queues(response["startOffsetInfo"])
    (offsets,) = decode_popped_queues(response["msgOffsetInfo"])
    assert encode_popped_queues([offsets]) == response["msgOffsetInfo"]
    assert offsets.offsets == (0, 1)
    notes = {}
    for record in log_of(release).values():
        properties = decode_properties(record.properties)
        if properties.get("REAL_TOPIC", "").startswith(REVIVE_TOPIC_PREFIX):
            notes[properties["TAGS"]] = (record.body, properties)
    body, properties = notes[CHECKPOINT_TAG]
    popped = decode_body(PopCheckpoint, body)
    assert encode_body(popped) == body
    assert not popped.rest
    assert popped.start_offset == queue.offsets[0]
    assert popped.offsets == tuple(n - popped.start_offset for n in offsets.offsets)
    assert popped.popped_at_ms == int(response["popTime"])
    due = popped.popped_at_ms + popped.invisible_ms
    assert int(properties["TIMER_DELIVER_MS"]) == due - 1000
    start = f"PartsTopic@0@0@pop_group@{popped.popped_at_ms}@broker-a"
    assert properties["UNIQ_KEY"] == f"{start}@ck"
    body, properties = notes[ACK_TAG]
    acknowledged = decode_body(AckMsg, body)
    assert encode_body(acknowledged) == body
    assert not acknowledged.rest
    assert int(properties["TIMER_DELIVER_MS"]) == due
    assert properties["UNIQ_KEY"] == f"{start}@ack"


@pytest.mark.parametrize("slave", ["fresh", "behind"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_slave_is_sent_the_log_piece_by_piece(release: str, slave: str) -> None:
    place = PARTS / release
    begin = decode_slave_offset((place / f"slave-{slave}.sent").read_bytes())
    pieces = pieces_of((place / f"slave-{slave}.received").read_bytes())
    log = (place / "commitlog" / "00000000000000000000").read_bytes()
    offset = begin
    for piece in pieces[:3]:
        assert piece.offset == offset
        written = log[offset : piece.end_offset]
        assert piece.data[: len(written)].startswith(written.rstrip(b"\0"))
        assert len(piece.data) <= 512
        offset = piece.end_offset
    assert pieces[-1].data == b""


def pieces_of(received: bytes) -> list[Piece]:
    """Return the pieces that a slave received."""
    pieces, position = [], 0
    while (size := piece_size(received[position:])) is not None:
        pieces.append(decode_piece(received[position : position + size]))
        position += size
    assert position == len(received)
    return pieces


@pytest.mark.parametrize(
    "path", [p for p in CONFIG if p.name.removesuffix(".bak") in FILES], ids=name_of
)
def test_a_configuration_file_is_written_again_as_it_was(path: Path) -> None:
    body, form = FILES[path.name.removesuffix(".bak")]
    content: Any = decode_body(body, path.read_bytes())
    written = encode_settings(content, form=form, release=release_of(path))
    assert written == path.read_bytes()
    assert not content.rest


@pytest.mark.parametrize(
    "path", [p for p in CONFIG if p.name.startswith("topics.json")], ids=name_of
)
def test_a_file_of_topics_is_pretty(path: Path) -> None:
    data = path.read_bytes()
    assert dumps_pretty(loads(data), release=release_of(path)) == data


def test_light_offsets_have_a_file_and_a_member() -> None:
    path = PARTS / "4.9.7" / "config" / "lmqConsumerOffset.json"
    found = decode_body(OffsetsFile, path.read_bytes())
    assert found.offsets == {"PartsTopic@parts_group": {0: 2}}
    assert found.light_offsets == {}
    assert not path.with_name("consumerOffset.json").exists()


@pytest.mark.parametrize("release", RELEASES)
def test_a_route_is_told_in_fastjsons_dialect_or_in_standard_json(release: str) -> None:
    old = (PARTS / release / "route-old.json").read_bytes()
    new = (PARTS / release / "route-new.json").read_bytes()
    if release < "5.4":
        assert dumps(loads(old)) == old
    is_standard = release >= "4.9.4"
    assert (dumps_standard if is_standard else dumps)(loads(new)) == new
    assert (b'"0":' in new) == is_standard
