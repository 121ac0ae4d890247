"""
Requirements for a store that starts on an image after a power cut.

The store starts. Its log is a prefix of the log before the cut, at least up to the
flushed position, without records of an earlier life. Queues and index agree with the
log, read from the files with the specification's decoders. The next message of each
queue gets the offset behind the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from reference.core.store.mapped.files import FilesError
from reference.core.store.message_store import MessageStore
from reference.core.store.types import PutStatus, StoreOptions
from reference.tests.crash.images import Image
from reference.tests.crash.recording_files import ImageFiles
from reference.tests.crash.trace import StoreState
from reference.tests.store.small_stores import append_one, message
from spec.integers import tags_code
from spec.layout import LayoutError
from spec.store.blank import BLANK_MAGIC
from spec.store.commit_log import scan
from spec.store.consume_queue import UNIT_SIZE, Unit, decode_unit
from spec.store.index_file import items_of_slot, key_hash
from spec.store.message_record import (
    Record,
    SystemFlag,
    decode_record,
    size_of_record,
)
from spec.wire.message.properties import decode_properties, keys_of
from spec.wire.message.topic_names import SCHEDULE_TOPIC

LATER_MS = 1_700_100_000_000
Queue = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Faults of a store that started on an image."""

    faults: tuple[str, ...]
    state: StoreState
    """The store's state after its start."""


def check_image(
    image: Image, before: StoreState, after: StoreState, options: StoreOptions
) -> Verdict:
    """Start a store on *image* and check it.

    The cut fell into a step that began with the state *before* and would have ended
    with *after*.
    """
    files = ImageFiles(image.content)
    try:
        store = MessageStore(files, options, LATER_MS)
    except FilesError as error:
        return Verdict(faults=(f"it does not start: {error}",), state=before)
    content = files.image()
    records = log_records(content)
    faults = [
        *_log_faults(records, before, after),
        *_queue_faults(content, records, store),
        *_index_faults(content, records, options),
        *_next_faults(store, records),
    ]
    state = StoreState(records=records, flushed=store.log.files.flushed)
    return Verdict(faults=tuple(faults), state=state)


def log_records(content: Mapping[str, bytes]) -> dict[int, bytes]:
    """Return the records of the commit log by their offsets."""
    found: dict[int, bytes] = {}
    for path in sorted(content):
        if not path.startswith("commitlog/"):
            continue
        base = int(path.removeprefix("commitlog/"))
        for at, record in _records_of(content[path]):
            found[base + at] = record
    return found


@lru_cache(maxsize=512)
def _records_of(data: bytes) -> tuple[tuple[int, bytes], ...]:
    return tuple(_each_record(data))


def _each_record(data: bytes) -> Iterator[tuple[int, bytes]]:
    view, at = memoryview(data), 0
    while at < len(data) and data[at + 4 : at + 8] != BLANK_MAGIC.to_bytes(4, "big"):
        try:
            record = bytes(view[at : at + size_of_record(view[at:])])
            decoded(record)
        except LayoutError:
            return
        yield at, record
        at += len(record)


@lru_cache(maxsize=16_384)
def decoded(record: bytes) -> Record:
    """Return *record* decoded; the same few come again and again."""
    return decode_record(record)


def _log_faults(
    records: Mapping[int, bytes], before: StoreState, after: StoreState
) -> Iterator[str]:
    end = max((at + len(record) for at, record in records.items()), default=0)
    for at, record in records.items():
        known = {believed.records.get(at) for believed in (before, after)}
        is_promised = at + len(record) <= before.flushed
        if record not in known and (
            is_promised or _bare(record) not in {_bare(one) for one in known if one}
        ):
            yield f"the log has a record at {at} that was not there: {decoded(record)}"
        if decoded(record).physical_offset != at:
            yield f"the record at {at} says it is at {decoded(record).physical_offset}"
    for at, record in before.records.items():
        stays = at in after.records
        if stays and at + len(record) <= before.flushed and at not in records:
            yield f"the flushed record at {at} is lost; the log ends at {end}"


def _bare(record: bytes) -> Record:
    """Return *record* without its properties, which no checksum guards."""
    return replace(decoded(record), properties="")


def _queue_faults(
    content: Mapping[str, bytes], records: Mapping[int, bytes], store: MessageStore
) -> Iterator[str]:
    expected: dict[Queue, dict[int, Unit]] = {}
    for at, data in records.items():
        record = decoded(data)
        kind = record.system_flags & SystemFlag.TRANSACTION_ROLLBACK
        if kind in (0, SystemFlag.TRANSACTION_COMMIT):
            units = expected.setdefault((record.topic, record.queue_id), {})
            if record.queue_offset in units:
                yield f"two messages have {record.topic} {record.queue_offset}"
            units[record.queue_offset] = Unit(
                commit_log_offset=at, size=len(data), tags_code=_tags_code(record)
            )
    queues = {(queue.topic, queue.queue_id) for queue in store.queues}
    for queue in sorted(queues | expected.keys()):
        wanted = expected.get(queue, {})
        low, high = store.min_offset(*queue), store.max_offset(*queue)
        first = min(wanted, default=low)
        if not 0 <= low <= high or (low, high) != (first, first + len(wanted)):
            had = f"the log has {len(wanted)} from {first}"
            yield f"{queue} goes from {low} to {high}, {had}"
        units = written_units(content, *queue)
        if units != wanted:
            differing = {n for n in units | wanted if units.get(n) != wanted.get(n)}
            units_found = [(n, units.get(n), wanted.get(n)) for n in sorted(differing)]
            yield f"{queue}: unlike the log: offset, unit, expected: {units_found}"


def _tags_code(record: Record) -> int:
    words = decode_properties(record.properties)
    if record.topic == SCHEDULE_TOPIC and words.get("DELAY") == "1":
        return record.stored_at_ms + 1000
    return tags_code(words.get("TAGS"))


def written_units(
    content: Mapping[str, bytes], topic: str, queue_id: int
) -> dict[int, Unit]:
    """Return the units of a queue, of all its files, by their queue offsets."""
    directory = f"consumequeue/{topic}/{queue_id}/"
    found: dict[int, Unit] = {}
    for path in sorted(path for path in content if path.startswith(directory)):
        base = int(path.removeprefix(directory)) // UNIT_SIZE
        data = content[path]
        for at in range(0, len(data), UNIT_SIZE):
            unit = _unit(data[at : at + UNIT_SIZE])
            if unit.is_written and not unit.is_filler:
                found[base + at // UNIT_SIZE] = unit
    return found


@lru_cache(maxsize=16_384)
def _unit(data: bytes) -> Unit:
    return decode_unit(data)


def _index_faults(
    content: Mapping[str, bytes], records: Mapping[int, bytes], options: StoreOptions
) -> Iterator[str]:
    files = [data for path, data in content.items() if path.startswith("index/")]
    for at, data in records.items():
        record = decoded(data)
        for key in sorted(set(_keys_of(record))):
            hashed = key_hash(record.topic, key)
            places = [_places(file, hashed, options.index_slot_count) for file in files]
            found = [place for one in places for place in one]
            # A repeated entry may be in a full file already, as in 4.6.0.
            if options.index_safe and found.count(at) < _keys_of(record).count(key):
                yield f"the index has {key!r} of the record at {at} in {found}"


@lru_cache(maxsize=16_384)
def _places(file: bytes, hashed: int, slot_count: int) -> tuple[int, ...]:
    items = items_of_slot(file, hashed, slot_count)
    return tuple(item.commit_log_offset for item in items if item.key_hash == hashed)


def _keys_of(record: Record) -> list[str]:
    words = decode_properties(record.properties)
    own = [words["UNIQ_KEY"]] if "UNIQ_KEY" in words else []
    if record.system_flags & SystemFlag.TRANSACTION_ROLLBACK == 12:
        return []
    return own + keys_of(words)


def _next_faults(store: MessageStore, records: Mapping[int, bytes]) -> Iterator[str]:
    end = store.log.files.end
    if any(end < at + len(record) for at, record in records.items()):
        yield f"the log goes on at {end}, within what it has"
    queues = {(queue.topic, queue.queue_id) for queue in store.queues} | {("T", 0)}
    for queue in sorted(queues):
        high = store.max_offset(*queue)
        result = append_one(store, message(*queue, b"next"), LATER_MS)
        if (result.status, result.queue_offset) != (PutStatus.PUT_OK, high):
            yield f"the next message of {queue}: {result}, expected offset {high}"
        store.commit_pool()
        store.dispatch()
        found = store.get(*queue, high, 1).records
        if [decoded(bytes(record)).body for record in found] != [b"next"]:
            yield f"the next message of {queue} is not found at {high}"


def scanned_alike(content: Mapping[str, bytes]) -> bool:
    """Return whether the specification's own scan finds the same records."""
    found = log_records(content)
    scanned = [
        placed.offset
        for path in sorted(content)
        if path.startswith("commitlog/")
        for placed in scan(
            content[path], int(path.removeprefix("commitlog/")), check_crc=True
        ).records
    ]
    return sorted(found) == scanned
