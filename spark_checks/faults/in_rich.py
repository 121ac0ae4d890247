"""
Faults in parts that only a rich store has.

These are extensions, LMQs, batch consume queues and checksums of whole records.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from construct import Struct

from spark_checks.faults.fault import Site, at, at_record, at_unit
from spark_checks.faults.fault_list import FaultList, Found, Place, unit_place
from spark_checks.generate.part import Placed
from spark_checks.generate.plan import BATCH_TOPIC, LMQ_NAMES
from spark_checks.generate.rich_part import EXTENSION_FILE_SIZE, extension_offset
from spark_checks.generate.rounds import BATCH_COUNT, Kind
from spec.derive.numpy_dtype import leading_fields
from spec.integers import tags_code
from spec.store import batch_queue
from spec.store.batch_queue import BATCH_QUEUE, batch_unit_layout
from spec.store.consume_queue import UNIT_SIZE, unit_codec, unit_layout
from spec.store.file_names import file_name
from spec.store.message_record import Record, record_layout
from spec.store.queue_extension import (
    EXTENSION,
    SMALLEST_SIZE,
    extension_address,
    extension_unit_layout,
)
from spec.wire.message.multi_dispatch import OFFSETS, dispatches_of
from spec.wire.message.properties import decode_properties

RICH_FAULTS = FaultList(is_rich=True)


def _place(directory: str, offset: int, file_size: int) -> Place:
    position = offset % file_size
    return f"{directory}/{file_name(offset - position)}", position


def _extension_of(message: Placed) -> Place:
    """Return the place of the extension unit of *message*."""
    topic, queue_id = message.queue
    offset = extension_offset(message.record.queue_offset)
    return _place(f"{EXTENSION}/{topic}/{queue_id}", offset, EXTENSION_FILE_SIZE)


def _lmq_unit_of(message: Placed) -> Place:
    """Return the place of the unit of *message* in the first LMQ."""
    first = dispatches_of(decode_properties(message.record.properties))[0]
    offset = first.queue_offset * UNIT_SIZE
    return _place(f"consumequeue/{LMQ_NAMES[0]}/0", offset, message.plan.queue_size)


def _batch_of(message: Placed) -> Place:
    """Return the place of the unit of *message*, a batch."""
    offset = message.record.queue_offset // BATCH_COUNT * batch_queue.UNIT_SIZE
    size = message.plan.queue_units * batch_queue.UNIT_SIZE
    return _place(f"{BATCH_QUEUE}/{BATCH_TOPIC}/0", offset, size)


def _last_bytes(layout: Struct, **values: int) -> dict[str, int]:
    """Return the position of the last byte of each field of *layout*."""
    fields = leading_fields(layout, **values)
    return {field.name: field.offset + field.size - 1 for field in fields}


_record = _last_bytes(record_layout, system_flags=0)
_unit = _last_bytes(unit_layout)
_batch = _last_bytes(batch_unit_layout)
_extension = _last_bytes(extension_unit_layout)
_in_extension = partial(RICH_FAULTS.flip, place=_extension_of)
_in_lmq = partial(RICH_FAULTS.flip, place=_lmq_unit_of, hit=Kind.LMQ)
_in_batch = partial(RICH_FAULTS.flip, place=_batch_of, hit=Kind.BATCH)

_in_extension(
    "extension-tags-code",
    "another tags code there",
    "INV-EXT-002",
    _extension["tags_code"],
)
_in_extension(
    "extension-time",
    "another store time there",
    "INV-EXT-002",
    _extension["stored_at_ms"],
)


@RICH_FAULTS.planting("extension-size", "an extension unit of another size")
def _extension_size(site: Site) -> Found:
    hit = site.take()
    file, position = _extension_of(hit)
    site.flip(file, position + 1)
    return [at_unit("INV-EXT-001", hit)]


@RICH_FAULTS.planting("extension-zeros", "an extension unit of zeros")
def _extension_gone(site: Site) -> Found:
    hit = site.take()
    site.overwrite(*_extension_of(hit), bytes(SMALLEST_SIZE))
    return [at_unit("INV-EXT-001", hit)]


@RICH_FAULTS.planting("extension-missing", "no extension")
def _no_extension(site: Site) -> Found:
    queue = site.take_queue()
    topic, queue_id = queue[0].queue
    shutil.rmtree(site.root / EXTENSION / topic / str(queue_id))
    return [at_unit("INV-EXT-001", message) for message in queue]


RICH_FAULTS.flip(
    "unit-address-inside",
    "an address in an extension unit",
    "INV-EXT-001",
    UNIT_SIZE - 1,
    place=unit_place,
)


@RICH_FAULTS.planting("unit-address-next", "the address of the next message")
def _address_of_next(site: Site) -> Found:
    hit = site.take()
    after = site.after(hit)
    address = extension_address(extension_offset(after.record.queue_offset))
    unit = unit_codec.encode((hit.offset, hit.size, address))
    site.overwrite(hit.queue_file, hit.unit_position, unit)
    return [at("INV-EXT-002", *_extension_of(after))]


_in_lmq(
    "lmq-unit-offset", "another offset", "INV-LIGHT-001", _unit["commit_log_offset"]
)
_in_lmq("lmq-unit-size", "another size", "INV-LIGHT-001", _unit["size"])
_in_lmq("lmq-unit-tags-code", "another tags code", "INV-LIGHT-001", _unit["tags_code"])


@RICH_FAULTS.planting("lmq-unit-zeros", "an LMQ unit of zeros")
def _no_lmq_unit(site: Site) -> Found:
    place = _lmq_unit_of(site.take(Kind.LMQ))
    site.overwrite(*place, bytes(UNIT_SIZE))
    return [at("INV-LIGHT-003", *place)]


def _lmq_unit_bytes(message: Placed) -> bytes:
    code = tags_code(decode_properties(message.record.properties).get("TAGS", ""))
    return unit_codec.encode((message.offset, message.size, code))


@RICH_FAULTS.planting("lmq-units-swapped", "two units of an LMQ swapped")
def _lmq_swapped(site: Site) -> Found:
    one, other = site.take(Kind.LMQ), site.take(Kind.LMQ)
    site.overwrite(*_lmq_unit_of(one), _lmq_unit_bytes(other))
    site.overwrite(*_lmq_unit_of(other), _lmq_unit_bytes(one))
    return [at("INV-LIGHT-002", *_lmq_unit_of(hit)) for hit in (one, other)]


@RICH_FAULTS.planting("lmq-unit-foreign", "a message not named")
def _lmq_of_other_topic(site: Site) -> Found:
    place = _lmq_unit_of(site.take(Kind.LMQ))
    site.overwrite(*place, _lmq_unit_bytes(site.take()))
    return [at("INV-LIGHT-001", *place)]


@RICH_FAULTS.planting("lmq-offset", "another offset in the record")
def _other_lmq_offset(site: Site) -> Found:
    hit = site.take(Kind.LMQ)
    site.change(hit, _with_next_lmq_offset)
    return [at("INV-LIGHT-002", *_lmq_unit_of(hit))]


def _with_next_lmq_offset(record: Record) -> Record:
    def another(found: re.Match[str]) -> str:
        return f"{found[1]}{(int(found[2]) + 1) % 10},"

    text = re.sub(f"({OFFSETS}\x01[0-9]*)([0-9]),", another, record.properties)
    return replace(record, properties=text)


_in_batch(
    "batch-unit-offset", "another offset", "INV-BATCH-001", _batch["commit_log_offset"]
)
_in_batch("batch-unit-size", "another size", "INV-BATCH-001", _batch["size"])
_in_batch(
    "batch-unit-tags-code", "another tags code", "INV-BATCH-001", _batch["tags_code"]
)
_in_batch("batch-unit-time", "another time", "INV-BATCH-001", _batch["stored_at_ms"])
_in_batch(
    "batch-unit-first",
    "another first offset",
    "INV-BATCH-001",
    _batch["first_queue_offset"],
)
_in_batch("batch-unit-count", "another count", "INV-BATCH-002", _batch["message_count"])


@RICH_FAULTS.planting("batch-unit-zeros", "a batch queue's unit of zeros")
def _no_batch_unit(site: Site) -> Found:
    hit = site.take(Kind.BATCH)
    site.overwrite(*_batch_of(hit), bytes(batch_queue.UNIT_SIZE))
    return [at_record("INV-BATCH-003", hit)]


def _in_record(
    kind: str, description: str, byte: int | Callable[[Placed], int]
) -> None:
    RICH_FAULTS.flip(kind, description, "INV-LOG-010", byte)


def _property_at(hit: Placed) -> int:
    """Return the position of the first letter of WAIT's value."""
    text = hit.record.properties.encode()
    return hit.size - len(text) + text.index(b"WAIT\x01") + 5


_in_record("whole-flag", "another flag", _record["flag"])
_in_record("whole-born", "another born time", _record["born_at_ms"])
_in_record("whole-times", "another count", _record["reconsume_times"])
_in_record("whole-property", "another value of a property", _property_at)
_in_record("whole-digit", "another checksum", lambda hit: hit.size - 2)
