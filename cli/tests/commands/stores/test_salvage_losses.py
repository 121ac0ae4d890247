"""``rmqc salvage`` of damaged stores: its report, and the messages that it keeps."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from cli.tests.commands.stores.salvage_command import PAGE, content, log_of, run
from reference.core.salvage.readable_records import FoundRecord, readable_records
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import file_name
from spec.store.message_record import MAGIC_V1, MAGIC_V2, Record, encode_record
from spec.wire.message.topic_names import TIMER_TOPIC

QUEUE_OFFSET_AT = 20
"""Bytes of a record before its queue offset."""


def test_damage_is_reported_and_the_original_is_only_read(
    store: Path, tmp_path: Path
) -> None:
    first, second, *_ = sorted((store / "commitlog").iterdir())
    data = bytearray(first.read_bytes())
    data[5 * PAGE : 6 * PAGE] = bytes(PAGE)
    first.write_bytes(data)
    second.unlink()
    before = content(store)
    code, output = run("salvage", store, "-o", tmp_path / "new", "--format", "json")
    assert content(store) == before
    assert code == 1
    found = json.loads(output)
    assert found["schema"] == 1
    assert found["missing_files"] == [second.name]
    begin, end = map(int, found["damaged_ranges"][0])
    assert begin <= 5 * PAGE < 6 * PAGE <= end
    ranges = (one for queue in found["lost_offsets"] for one in queue["ranges"])
    lost = sum(int(end) - int(begin) for begin, end in ranges)
    assert found["lost"] == lost > 0


@pytest.mark.parametrize("end", [100, 5 * PAGE])
def test_queues_whose_first_messages_are_lost_begin_at_0(
    store: Path, tmp_path: Path, end: int
) -> None:
    path = min((store / "commitlog").iterdir())
    path.write_bytes(bytes(end) + path.read_bytes()[end:])
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new, "--format", "json")
    assert code == 1, output
    found = json.loads(output)
    begins = [int(one["ranges"][0][0]) for one in found["lost_offsets"]]
    assert begins == [0] * len(begins)
    assert found["lost"] == sum(one["by"] for one in found["moved_queues"]) > 0
    code, output = run("salvage", new, "-o", tmp_path / "again", "--format", "json")
    assert code == 0, output
    assert json.loads(output)["messages"] == found["messages"]


@pytest.mark.parametrize("which", [min, max])
def test_a_directory_in_place_of_a_file_is_reported(
    store: Path, tmp_path: Path, which: Callable[[Iterable[Path]], Path]
) -> None:
    path = which((store / "commitlog").iterdir())
    path.unlink()
    path.mkdir()
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 1
    assert f"  commitlog/{path.name} is a directory" in output
    assert "none lost" not in output


@pytest.mark.parametrize("is_preallocated", [False, True])
def test_a_file_that_is_too_long_is_reported(
    store: Path, tmp_path: Path, is_preallocated: bool
) -> None:
    files = sorted((store / "commitlog").iterdir())
    size = files[0].stat().st_size
    path = files[0]
    if is_preallocated:
        path = path.with_name(f"{int(files[-1].name) + size:020}")
        path.write_bytes(bytes(size))
    path.write_bytes(path.read_bytes() + bytes(size))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 1
    line = f"commitlog/{path.name} is too long: its bytes behind {size:,} are not read"
    assert line in " ".join(output.split())


def test_a_directory_in_place_of_a_queue_file_is_passed_over(
    store: Path, tmp_path: Path
) -> None:
    path = min((store / "consumequeue").glob("*/0/0*"))
    path.unlink()
    path.mkdir()
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True), output


def test_a_garbage_unit_is_not_a_lost_message(store: Path, tmp_path: Path) -> None:
    path = max((store / "consumequeue").glob("*/0/0*"))
    data = path.read_bytes()
    end = -(-len(data.rstrip(b"\0")) // UNIT_SIZE) * UNIT_SIZE
    far = (1 << 61).to_bytes(8, "big") + bytes(3) + b"\xc8" + bytes(8)
    without_size = data[end - UNIT_SIZE :][:8] + bytes(4) + b"12345678"
    garbage = far + b"\xff" * UNIT_SIZE + without_size
    path.write_bytes(far + data[UNIT_SIZE:end] + garbage + data[end + len(garbage) :])
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True), output


def test_a_copy_of_a_queue_has_no_lost_messages(store: Path, tmp_path: Path) -> None:
    topic = min((store / "consumequeue").glob("Orders*"))
    shutil.copytree(topic, topic.with_name(f"{topic.name}.old"))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True), output


def test_bridging_records_are_named_and_not_dumped(store: Path, tmp_path: Path) -> None:
    path = min((store / "commitlog").iterdir())
    data = bytearray(path.read_bytes())
    data[5 * PAGE : 6 * PAGE] = bytes(PAGE)
    path.write_bytes(data)
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new, "--format", "json")
    assert code == 1
    found = json.loads(output)
    assert found["bridging_records"] > 0
    code, dumped = run("dump", new)
    assert code == 0
    assert "SALVAGE_BRIDGE" not in dumped
    assert len(dumped.splitlines()) == found["messages"]
    code, output = run("salvage", new, "-o", tmp_path / "again")
    assert code == 0
    assert f"{found['bridging_records']} record" in output
    assert "of the topic SALVAGE_BRIDGE" in output


def test_each_moved_queue_is_listed_with_its_gap(store: Path, tmp_path: Path) -> None:
    path = min((store / "commitlog").iterdir())
    path.write_bytes(bytes(5 * PAGE) + path.read_bytes()[5 * PAGE :])
    form = ("--format", "json")
    moved = json.loads(run("salvage", store, "-o", tmp_path / "json", *form)[1])
    _, output = run("salvage", store, "-o", tmp_path / "new")
    assert moved["moved_queues"]
    for one in moved["moved_queues"]:
        line = f"    {one['topic']}, queue {one['queue']}, by {one['by']:,}\n"
        assert line in output


def test_a_message_with_the_queue_offset_of_another_is_kept(tmp_path: Path) -> None:
    store, new = tmp_path / "store", tmp_path / "new"
    words = ("--size", "1M", "--faults", "record-queue-id,record-queue-offset")
    assert run("generate", store, *words)[0] == 0
    code, output = run("salvage", store, "-o", new, "--format", "json")
    assert code == 1, output
    found = json.loads(output)
    assert "message before: 2" in found["warnings"][0]
    assert found["messages"] == len(run("dump", store)[1].splitlines())
    code, output = run("recover", new, "--release", "4.6")
    assert code == 0, output


@pytest.mark.parametrize("queue_offset", [-5, 1 << 60, 5000, 0])
def test_a_wrong_first_queue_offset_is_that_of_its_unit(
    store: Path, tmp_path: Path, queue_offset: int
) -> None:
    expired, path, *_ = sorted((store / "commitlog").iterdir())
    expired.unlink()
    assert run("salvage", store, "-o", tmp_path / "sound")[0] == 0
    with_first_queue_offset(path, queue_offset)
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (1, True), output
    assert "now those of the consume queue: 1\n" in output
    assert log_of(tmp_path / "new") == log_of(tmp_path / "sound")


@pytest.mark.parametrize("queue_offset", [-5, 1 << 60])
def test_an_impossible_first_queue_offset_without_a_unit_is_that_before_the_next(
    store: Path, tmp_path: Path, queue_offset: int
) -> None:
    expired, path, *_ = sorted((store / "commitlog").iterdir())
    expired.unlink()
    shutil.rmtree(store / "consumequeue")
    assert run("salvage", store, "-o", tmp_path / "sound")[0] == 0
    with_first_queue_offset(path, queue_offset)
    code, output = run("salvage", store, "-o", tmp_path / "new", "--format", "json")
    assert code == 1, output
    found = json.loads(output)
    assert found["warnings"][0].endswith("message before: 1")
    assert found["lost_offsets"] == []
    assert log_of(tmp_path / "new") == log_of(tmp_path / "sound")


def with_first_queue_offset(path: Path, queue_offset: int) -> None:
    """Write a wrong offset into the first record of a log's file and of a queue 0."""
    begin = int(path.name)
    found = next(
        one
        for one in readable_records(path.read_bytes(), begin, is_last=False)
        if isinstance(one, FoundRecord) and one.record.topic.startswith("Orders")
    )
    assert found.record.queue_id == 0
    with path.open("r+b") as log:
        log.seek(found.offset - begin + QUEUE_OFFSET_AT)
        log.write(queue_offset.to_bytes(8, "big", signed=True))


def test_a_store_for_an_older_release_has_no_records_that_it_cannot_read(
    tmp_path: Path,
) -> None:
    store, size = tmp_path / "store", 64 * 1024
    one = Record(topic="Old", queue_id=0, queue_offset=0, physical_offset=0, body=b"a")
    data = encode_record(one)
    for topic, number in (("New" * 60, 0), ("Old", 1)):
        magic = MAGIC_V2 if len(topic) > 127 else MAGIC_V1
        one = replace(
            one,
            topic=topic,
            magic=magic,
            queue_offset=number,
            physical_offset=len(data),
        )
        data += encode_record(one)
    (store / "commitlog").mkdir(parents=True)
    (store / "config").mkdir()
    (store / "config" / "delayOffset.json").write_text('{"offsetTable":{}}')
    (store / "commitlog" / file_name(0)).write_bytes(data.ljust(size, b"\0"))
    counts = {}
    for release in ("4.6.0", "5.3.3"):
        words = ("--release", release, "--format", "json")
        code, output = run("salvage", store, "-o", tmp_path / release, *words)
        found = json.loads(output)
        assert (found["start"]["release"], found["start"]["lost"]) == (release, 0)
        counts[release] = code, found["messages"], found["bridging_records"]
    assert counts == {"4.6.0": (1, 2, 1), "5.3.3": (0, 3, 0)}


def test_a_message_of_a_topic_that_is_no_directory_is_in_no_queue(
    store: Path, tmp_path: Path
) -> None:
    path = min((store / "commitlog").iterdir())
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Orders0001", b"Or/ers0001", 1))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 1, output
    assert "topic or queue id is not valid: 1\n" in output


@pytest.mark.parametrize("topic", [TIMER_TOPIC, "Orders"])
def test_timed_messages_that_are_read_again_are_no_loss(
    tmp_path: Path, topic: str
) -> None:
    one = Record(topic=topic, queue_id=0, queue_offset=0, physical_offset=0, body=b"a")
    log = tmp_path / "store" / "commitlog"
    log.mkdir(parents=True)
    (log / file_name(0)).write_bytes(encode_record(one).ljust(4096, b"\0"))
    (log.parent / "config").mkdir()
    (log.parent / "config" / "delayOffset.json").write_text('{"offsetTable":{}}')
    code, output = run("salvage", log.parent, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True), output
    expected = "timer files: not copied; 5.x reads its messages again (1):\n"
    assert (expected in output) is (topic == TIMER_TOPIC)


def test_the_second_salvage_finds_nothing_more(store: Path, tmp_path: Path) -> None:
    path = sorted((store / "commitlog").iterdir())[1]
    data = bytearray(path.read_bytes())
    data[100:200] = bytes(100)
    path.write_bytes(data)
    assert run("salvage", store, "-o", tmp_path / "once")[0] == 1
    code, output = run("salvage", tmp_path / "once", "-o", tmp_path / "twice")
    assert (code, "none lost" in output) == (0, True)
    assert log_of(tmp_path / "once") == log_of(tmp_path / "twice")


def test_many_missing_files_are_counted(store: Path, tmp_path: Path) -> None:
    first, *_ = sorted((store / "commitlog").iterdir())
    size = first.stat().st_size
    shutil.copy(first, first.with_name(file_name(100 * size)))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, output.count("  missing file: commitlog/")) == (1, 20), output
    assert re.search(r"\n  and \d+ more missing files \(--format json\)\n", output)
