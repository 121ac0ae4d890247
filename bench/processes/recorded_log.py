"""
A commit log to measure on: one file, full, that a broker wrote message by message.

The broker is any that the suites can start. Its file is copied into the user's cache,
with a note of who wrote it and when, so that a second measurement need not wait.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from columns.log_batch import read_batches
from conformance.harness.client.client import Client, now_ms, request, require_success
from conformance.harness.client.peer import Peer
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.targets.target import Target, parse_target
from java_runtime.user_cache import cache_directory
from spec.store.file_names import file_name
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import encode_properties
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.send.send import LETTERS

LOG_SIZE = 64 * 1024 * 1024
BODY_SIZE = 1024
TOPIC = "BenchCodec"
QUEUE_COUNT = 4
AT_ONCE = 200
"""Messages sent before the first response is read."""
LOG_SIZE_MAX = 512 * 1024 * 1024
"""Most bytes of a given commit log that are decoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLog:
    """Whole records of a commit log, one after the other, and where they are from."""

    path: Path
    data: bytes
    origin: str
    """The target that wrote it, or the path that was given."""
    recorded_at: str
    sha256: str


class NoLogError(Exception):
    """There is no commit log with records at the path that was given."""


def recorded_log(target: str, *, fresh: bool, size: int = LOG_SIZE) -> RecordedLog:
    """Return the log that *target* wrote, from the cache unless it must be *fresh*."""
    name = target.replace(":", "-").replace("/", "-").strip("-")
    path = cache_directory() / "bench" / f"commitlog-{name}-{size}"
    note = path.with_suffix(".json")
    if fresh or not note.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with parse_target(target, conf=_settings(size)) as running:
            copied = path.with_suffix(".draft")
            shutil.copyfile(_written(running, size), copied)
        copied.write_bytes(_whole_records(copied))
        copied.replace(path)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        note.write_text(json.dumps({"origin": target, "recorded_at": now}))
    known = json.loads(note.read_text())
    return _log(path, origin=known["origin"], recorded_at=known["recorded_at"])


def given_log(path: Path) -> RecordedLog:
    """Return the first commit-log file of the store, or the file, at *path*."""
    file = path
    for folder in (path / "commitlog", path):
        if folder.is_dir():
            files = sorted(found for found in folder.iterdir() if found.is_file())
            file = files[0] if files else path
            break
    if not file.is_file():
        raise NoLogError(f"{path}: no commit log and no store with one")
    data = _whole_records(file)
    if not data:
        raise NoLogError(f"{file}: no record begins it")
    digest = hashlib.sha256(data).hexdigest()
    trimmed = cache_directory() / "bench" / f"commitlog-{digest[:16]}"
    trimmed.parent.mkdir(parents=True, exist_ok=True)
    trimmed.write_bytes(data)
    return _log(trimmed, origin=str(path), recorded_at="")


def _log(path: Path, *, origin: str, recorded_at: str) -> RecordedLog:
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return RecordedLog(
        path=path, data=data, origin=origin, recorded_at=recorded_at, sha256=digest
    )


def _whole_records(file: Path) -> bytes:
    """Return the records with which *file* begins, without what follows them."""
    with file.open("rb") as opened:
        data = opened.read(LOG_SIZE_MAX)
    return data[: max((batch.end for batch in read_batches(data)), default=0)]


def _settings(size: int) -> dict[str, str]:
    return {"mappedFileSizeCommitLog": str(size), "mapedFileSizeCommitLog": str(size)}


def _written(target: Target, size: int) -> Path:
    """Let *target* fill its first commit-log file, and return that file."""
    assert target.broker is not None
    assert target.store_path is not None
    with Client.connect(target.broker) as broker:
        require_success(broker.create_topic(topic=TOPIC, queue_count=QUEUE_COUNT))
    messages = _messages()
    end = 0
    while end < size:
        # A connection keeps its transcript; a new one each time frees it.
        with Peer(target.broker) as peer:
            sent = [peer.send(next(messages)) for _ in range(AT_ONCE)]
            for one in sent:
                response = require_success(
                    peer.receive_response(one.opaque, timeout_s=60)
                )
                _, offset = decode_message_id(response.fields["msgId"])
                end = max(end, offset)
    target.stop()
    return target.store_path / "commitlog" / file_name(0)


def _messages() -> Iterator[Command]:
    """Yield requests that send messages of one size, as a Java producer makes them."""
    chance = random.Random(4)  # noqa: S311 - the same bodies each time
    number = 0
    while True:
        properties = {
            "UNIQ_KEY": f"7F000001{number:024X}",
            "WAIT": "true",
            "TAGS": f"Tag{number % 5}",
        }
        fields: dict[str, FieldValue] = {
            "producerGroup": "bench_producer",
            "topic": TOPIC,
            "defaultTopic": "TBW102",
            "defaultTopicQueueNums": QUEUE_COUNT,
            "queueId": number % QUEUE_COUNT,
            "sysFlag": 0,
            "bornTimestamp": now_ms(),
            "flag": 0,
            "properties": encode_properties(properties),
            "reconsumeTimes": 0,
            "unitMode": False,
            "batch": False,
        }
        letters = {LETTERS[name]: value for name, value in fields.items()}
        body = chance.randbytes(BODY_SIZE)
        yield request(RequestCode.SEND_MESSAGE_V2, letters, body)
        number += 1
