"""
Faults in parts that only a rich store has.

These are extensions, LMQs, batch consume queues and checksums of whole records.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace

from spark_checks.faults.fault import Expected, Fault, Site, at_record, at_unit
from spark_checks.generate.encoding import with_checksum
from spark_checks.generate.part import Placed
from spark_checks.generate.plan import BATCH_TOPIC, LMQ_NAMES
from spark_checks.generate.rich_part import (
    EXTENSION_FILE_SIZE,
    extension_offset,
)
from spark_checks.generate.rounds import BATCH_COUNT, Kind
from spec.derive.numpy_dtype import leading_fields
from spec.integers import tags_code
from spec.store import batch_queue
from spec.store.batch_queue import BATCH_QUEUE, batch_unit_layout
from spec.store.consume_queue import UNIT_SIZE, unit_codec, unit_layout
from spec.store.file_names import file_name
from spec.store.message_record import record_layout
from spec.store.queue_extension import (
    EXTENSION,
    SMALLEST_SIZE,
    extension_address,
    extension_unit_layout,
)
from spec.store.record_checksum import CHECKSUM_SIZE
from spec.wire.message.multi_dispatch import OFFSETS, dispatches_of
from spec.wire.message.properties import decode_properties

Found = tuple[Expected, Sequence[Expected]]
Where = tuple[str, int]
"""A file and a position in it."""
_record = {f.name: f for f in leading_fields(record_layout, system_flags=0)}
_unit = {f.name: f for f in leading_fields(unit_layout)}
_batch = {f.name: f for f in leading_fields(batch_unit_layout)}
_extension = {f.name: f for f in leading_fields(extension_unit_layout)}


def _place(directory: str, at: int, file_size: int) -> Where:
    position = at % file_size
    return f"{directory}/{file_name(at - position)}", position


def _extension_of(message: Placed) -> Where:
    """Return the place of the extension unit of *message*."""
    topic, queue_id = message.queue
    at = extension_offset(message.record.queue_offset)
    return _place(f"{EXTENSION}/{topic}/{queue_id}", at, EXTENSION_FILE_SIZE)


def _lmq_unit_of(message: Placed) -> Where:
    """Return the place of the unit of *message* in the first LMQ."""
    first = dispatches_of(decode_properties(message.record.properties))[0]
    at = first.queue_offset * UNIT_SIZE
    return _place(f"consumequeue/{LMQ_NAMES[0]}/0", at, message.plan.queue_size)


def _batch_of(message: Placed) -> Where:
    """Return the place of the unit of *message*, a batch."""
    at = message.record.queue_offset // BATCH_COUNT * batch_queue.UNIT_SIZE
    size = message.plan.queue_units * batch_queue.UNIT_SIZE
    return _place(f"{BATCH_QUEUE}/{BATCH_TOPIC}/0", at, size)


def _at(finding: str, where: Where) -> Expected:
    return Expected(finding=finding, file=where[0], offset=where[1])


def _rich(kind: str, description: str, plant: Callable[[Site], Found]) -> Fault:
    return Fault(kind=kind, description=description, plant=plant, is_rich=True)


def _flipping(
    kind: str,
    description: str,
    field: int,
    finding: str,
    *,
    of: Callable[[Placed], Where],
    hit: Kind,
) -> Fault:
    """Return a fault that flips a bit of byte *field* at the place *of* a message."""

    def plant(site: Site) -> Found:
        file, position = where = of(site.take(hit))
        site.flip(file, position + field)
        return _at(finding, where), ()

    return _rich(kind, description, plant)


def _last(field: str) -> int:
    """Return the position of the last byte of a record's *field*."""
    found = _record[field]
    return found.offset + found.size - 1


def _in_extension(kind: str, description: str, field: str) -> Fault:
    at = _extension[field].offset + _extension[field].size - 1
    return _flipping(
        kind, description, at, "INV-EXT-002", of=_extension_of, hit=Kind.ORDINARY
    )


def _in_lmq(kind: str, description: str, field: str) -> Fault:
    at = _unit[field].offset + _unit[field].size - 1
    return _flipping(
        kind, description, at, "INV-LIGHT-001", of=_lmq_unit_of, hit=Kind.LMQ
    )


def _in_batch(kind: str, description: str, field: str, finding: str) -> Fault:
    at = _batch[field].offset + _batch[field].size - 1
    return _flipping(kind, description, at, finding, of=_batch_of, hit=Kind.BATCH)


def _in_record(kind: str, description: str, at: Callable[[Placed], int]) -> Fault:
    def plant(site: Site) -> Found:
        hit = site.take()
        site.flip(hit.log_file, hit.position + at(hit))
        return at_record("INV-LOG-010", hit), ()

    return _rich(kind, description, plant)


def _property_at(hit: Placed) -> int:
    """Return the position of the first letter of WAIT's value."""
    text = hit.record.properties
    return hit.size - len(text.encode()) + text.encode().index(b"WAIT\x01") + 5


def _extension_gone(site: Site) -> Found:
    hit = site.take()
    file, position = _extension_of(hit)
    site.overwrite(file, position, bytes(SMALLEST_SIZE))
    return at_unit("INV-EXT-001", hit), ()


def _extension_size(site: Site) -> Found:
    hit = site.take()
    file, position = _extension_of(hit)
    site.flip(file, position + 1)
    return at_unit("INV-EXT-001", hit), ()


def _address_inside(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.queue_file, hit.unit_position + UNIT_SIZE - 1)
    return at_unit("INV-EXT-001", hit), ()


def _address_of_next(site: Site) -> Found:
    hit = site.take()
    after = site.after(hit)
    address = extension_address(extension_offset(after.record.queue_offset))
    unit = unit_codec.encode((hit.offset, hit.size, address))
    site.overwrite(hit.queue_file, hit.unit_position, unit)
    return _at("INV-EXT-002", _extension_of(after)), ()


def _no_extension(site: Site) -> Found:
    queue = site.take_queue()
    topic, queue_id = queue[0].queue
    shutil.rmtree(site.root / EXTENSION / topic / str(queue_id))
    first, *more = (at_unit("INV-EXT-001", message) for message in queue)
    return first, more


def _no_lmq_unit(site: Site) -> Found:
    file, position = where = _lmq_unit_of(site.take(Kind.LMQ))
    site.overwrite(file, position, bytes(UNIT_SIZE))
    return _at("INV-LIGHT-003", where), ()


def _lmq_unit_bytes(message: Placed) -> bytes:
    code = tags_code(decode_properties(message.record.properties).get("TAGS", ""))
    return unit_codec.encode((message.offset, message.size, code))


def _lmq_swapped(site: Site) -> Found:
    one = next(m for m in site.take_round() if m.kind is Kind.LMQ)
    other = next(m for m in site.take_round() if m.kind is Kind.LMQ)
    site.overwrite(*_lmq_unit_of(one), _lmq_unit_bytes(other))
    site.overwrite(*_lmq_unit_of(other), _lmq_unit_bytes(one))
    also = [_at("INV-LIGHT-002", _lmq_unit_of(other))]
    return _at("INV-LIGHT-002", _lmq_unit_of(one)), also


def _lmq_of_other_topic(site: Site) -> Found:
    where = _lmq_unit_of(site.take(Kind.LMQ))
    site.overwrite(*where, _lmq_unit_bytes(site.take()))
    return _at("INV-LIGHT-001", where), ()


def _other_lmq_offset(site: Site) -> Found:
    """Write another LMQ offset into a record."""
    hit = site.take(Kind.LMQ)
    text = hit.record.properties[:-CHECKSUM_SIZE]

    def another(found: re.Match[str]) -> str:
        return f"{found[1]}{(int(found[2]) + 1) % 10},"

    changed = re.sub(f"({OFFSETS}\x01[0-9]*)([0-9]),", another, text)
    site.rewrite(hit, with_checksum(replace(hit.record, properties=changed)))
    return _at("INV-LIGHT-002", _lmq_unit_of(hit)), ()


def _no_batch_unit(site: Site) -> Found:
    hit = site.take(Kind.BATCH)
    file, position = _batch_of(hit)
    site.overwrite(file, position, bytes(batch_queue.UNIT_SIZE))
    return at_record("INV-BATCH-003", hit), ()


RICH_FAULTS: tuple[Fault, ...] = (
    _in_extension("extension-tags-code", "another tags code there", "tags_code"),
    _in_extension("extension-time", "another store time there", "stored_at_ms"),
    _rich("extension-size", "an extension unit of another size", _extension_size),
    _rich("extension-zeros", "an extension unit of zeros", _extension_gone),
    _rich("extension-missing", "no extension", _no_extension),
    _rich("unit-address-inside", "an address in an extension unit", _address_inside),
    _rich("unit-address-next", "the address of the next message", _address_of_next),
    _in_lmq("lmq-unit-offset", "another offset", "commit_log_offset"),
    _in_lmq("lmq-unit-size", "another size", "size"),
    _in_lmq("lmq-unit-tags-code", "another tags code", "tags_code"),
    _rich("lmq-unit-zeros", "an LMQ unit of zeros", _no_lmq_unit),
    _rich("lmq-units-swapped", "two units of an LMQ swapped", _lmq_swapped),
    _rich("lmq-unit-foreign", "a message not named", _lmq_of_other_topic),
    _rich("lmq-offset", "another offset in the record", _other_lmq_offset),
    _in_batch(
        "batch-unit-offset", "another offset", "commit_log_offset", "INV-BATCH-001"
    ),
    _in_batch("batch-unit-size", "another size", "size", "INV-BATCH-001"),
    _in_batch(
        "batch-unit-tags-code", "another tags code", "tags_code", "INV-BATCH-001"
    ),
    _in_batch("batch-unit-time", "another time", "stored_at_ms", "INV-BATCH-001"),
    _in_batch(
        "batch-unit-first",
        "another first offset",
        "first_queue_offset",
        "INV-BATCH-001",
    ),
    _in_batch("batch-unit-count", "another count", "message_count", "INV-BATCH-002"),
    _rich("batch-unit-zeros", "a batch queue's unit of zeros", _no_batch_unit),
    _in_record("whole-flag", "another flag", lambda _: _last("flag")),
    _in_record("whole-born", "another born time", lambda _: _last("born_at_ms")),
    _in_record("whole-times", "another count", lambda _: _last("reconsume_times")),
    _in_record("whole-property", "another value of a property", _property_at),
    _in_record("whole-digit", "another checksum", lambda hit: hit.size - 2),
)
