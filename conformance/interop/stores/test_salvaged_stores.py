"""Real brokers serve every undamaged message of a store made by `rmqc salvage`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.store_files import StoreFiles
from rocketmq_conformance.paths import module_command
from spec.store.commit_log import PlacedRecord
from spec.store.file_names import COMMIT_LOG
from spec.store.message_record import decode_records
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

FILE_SIZE = 128 * 1024
SETTINGS = {
    "mapedFileSizeCommitLog": str(FILE_SIZE),
    "mapedFileSizeConsumeQueue": str(20 * 100),
    "maxHashSlotNum": "100",
    "maxIndexNum": "400",
    "timerWheelEnable": "false",
}
QUEUES, MESSAGES = 3, 400
TOPIC, GROUP = "Salvaged", "salvagers"
COMMITTED = 100
"""Committed offset of queue 0, behind the first damage."""


@dataclass(frozen=True)
class Original:
    """A stopped store, and the records of its topic."""

    path: Path
    records: tuple[PlacedRecord, ...]


def cluster(release: str, directory: Path, store: Path) -> ApacheCluster:
    """Return a cluster of *release* on *store*, not yet started."""
    directory.mkdir()
    return ApacheCluster(release, directory=directory, conf=SETTINGS, store=store)


@pytest.fixture(scope="module", params=["4.6.0", "5.3.3"])
def release(request: pytest.FixtureRequest) -> str:
    """Return the release that writes and serves the store."""
    return str(request.param)


@pytest.fixture(scope="module")
def original(release: str, tmp_path_factory: pytest.TempPathFactory) -> Original:
    """Return a store of *release* with messages in several files."""
    directory = tmp_path_factory.mktemp("salvage")
    store = directory / "store"
    with closing(cluster(release, directory / "home", store)) as writer:
        writer.start()
        with Client.connect(writer.broker) as client:
            require_success(client.create_topic(topic=TOPIC, queue_count=QUEUES))
            require_success(client.update_group(group=GROUP))
            for number in range(MESSAGES):
                send(client, number)
            client.wait_for_max_offset(topic=TOPIC, offset=-(-MESSAGES // QUEUES))
            committed = client.update_offset(group=GROUP, topic=TOPIC, offset=COMMITTED)
            require_success(committed)
        writer.stop()
    log = StoreFiles(store).log_files()
    records = [one for file in log for one in file.scan.records]
    own = tuple(one for one in records if one.record.topic == TOPIC)
    assert len(own) == MESSAGES
    return Original(store, own)


def send(client: Client, number: int) -> None:
    """Send the message *number*."""
    require_success(
        client.send_message(
            topic=TOPIC,
            queue_id=number % QUEUES,
            body=b"%06d" % number * 200,
            properties={"KEYS": f"k{number}"},
        )
    )


def zero_page(files: list[Path]) -> set[tuple[int, int]]:
    """Zero a page; return the damaged range of the log."""
    return {overwrite(files[1], 40_000, bytes(4096))}


def flip_bits(files: list[Path]) -> set[tuple[int, int]]:
    """Change one byte in each of three files."""
    return {overwrite(path, 70_001, b"\xa5") for path in files[:3]}


def remove_file(files: list[Path]) -> set[tuple[int, int]]:
    """Remove a file in the middle."""
    files[2].unlink()
    return {(int(files[2].name), int(files[2].name) + FILE_SIZE)}


def remove_first_file(files: list[Path]) -> set[tuple[int, int]]:
    """Remove the oldest file, and damage the next one."""
    files[0].unlink()
    return {(0, FILE_SIZE), overwrite(files[1], 1_000, b"\xff" * 3_000)}


def overwrite(path: Path, at: int, data: bytes) -> tuple[int, int]:
    """Overwrite bytes of a commit-log file; return their range in the log."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)
    return int(path.name) + at, int(path.name) + at + len(data)


DAMAGES = [zero_page, flip_bits, remove_file, remove_first_file]
Damage = Callable[[list[Path]], set[tuple[int, int]]]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
def test_all_undamaged_messages_are_served(
    original: Original, release: str, damage: Damage, tmp_path: Path
) -> None:
    store, new = tmp_path / "store", tmp_path / "new"
    shutil.copytree(original.path, store)
    log = store / COMMIT_LOG
    ranges = damage(sorted(log.iterdir()))
    left = [one for one in original.records if is_whole(one, ranges)]
    assert 0 < len(left) < MESSAGES
    report = salvaged(store, new)
    begin = min(int(path.name) for path in log.iterdir())  # earlier ones have expired
    held = [one for one in original.records if one.offset >= begin]
    assert report["lost"] == len(held) - len(left)
    with closing(cluster(release, tmp_path / "home", new)) as reader:
        reader.start()
        with Client.connect(reader.broker) as client:
            for queue_id in range(QUEUES):
                served = everything(client, queue_id)
                assert served == [
                    (one.record.body, keys_of(one.record.properties))
                    for one in left
                    if one.record.queue_id == queue_id
                ]
            check_look_ups(client, left)
            check_committed(client, left)
            send(client, MESSAGES)


def is_whole(one: PlacedRecord, ranges: set[tuple[int, int]]) -> bool:
    """Return whether no damaged range touches a record."""
    return all(end <= one.offset or one.offset + one.size <= at for at, end in ranges)


def salvaged(store: Path, new: Path) -> Mapping[str, int]:
    """Salvage *store*; return the report."""
    words = ["salvage", str(store), "-o", str(new), "--format", "json"]
    command = module_command("cli", *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    found: Mapping[str, int] = json.loads(done.stdout)
    return found


def everything(client: Client, queue_id: int) -> list[tuple[bytes, str]]:
    """Return body and keys of each message of a queue, in order."""
    offset, end = (
        int(require_success(bound(topic=TOPIC, queue_id=queue_id)).fields["offset"])
        for bound in (client.min_offset, client.max_offset)
    )
    served = []
    while offset < end:
        response = client.pull(
            topic=TOPIC, queue_id=queue_id, offset=offset, group=GROUP
        )
        assert response.code == ResponseCode.SUCCESS, f"{response.code} at {offset}"
        for record in decode_records(response.body):
            assert record.queue_offset == offset
            served.append((record.body, keys_of(record.properties)))
            offset += 1
    return served


def keys_of(properties: str) -> str:
    """Return the keys of a message."""
    return decode_properties(properties)["KEYS"]


def check_look_ups(client: Client, left: list[PlacedRecord]) -> None:
    """Look up the last message by its key, and by its id of old."""
    last = left[-1]
    key = keys_of(last.record.properties)
    wait_until(
        lambda: client.query_message(topic=TOPIC, key=key).code == ResponseCode.SUCCESS,
        what=f"a message is found by {key}",
    )
    viewed = require_success(client.view_message(commit_log_offset=last.offset))
    (record,) = decode_records(viewed.body)
    assert record.body == last.record.body


def check_committed(client: Client, left: list[PlacedRecord]) -> None:
    """Check that the group goes on with the message it would have had next."""
    response = require_success(client.query_offset(group=GROUP, topic=TOPIC))
    offset = int(response.fields["offset"])
    pulled = client.pull(topic=TOPIC, offset=offset, group=GROUP)
    first = next(iter(decode_records(pulled.body)))
    expected = next(
        one.record.body
        for one in left
        if one.record.queue_id == 0 and one.record.queue_offset >= COMMITTED
    )
    assert first.body == expected
