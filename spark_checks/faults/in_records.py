"""
Faults in single records of the commit log.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from spark_checks.faults.fault import (
    Change,
    Site,
    at_record,
    at_unit,
    when_lost,
)
from spark_checks.faults.fault_list import FaultList, Found
from spark_checks.faults.index_places import keys_lost
from spark_checks.generate.part import Placed
from spark_checks.generate.rounds import Kind
from spec.derive.numpy_dtype import leading_fields
from spec.layout import LayoutError
from spec.store.message_record import (
    Record,
    SystemFlag,
    decode_record,
    record_layout,
)
from spec.wire.bodies.zlib_stream import LZ4_TYPE, ZSTD_TYPE

RECORD_FAULTS = FaultList()
_at = {f.name: f.offset for f in leading_fields(record_layout, system_flags=0)}
_BODY_AT = _at["body_size"] + 4


def _topic_at(hit: Placed) -> int:
    """Return the position of the topic's size in the record."""
    return _BODY_AT + len(hit.record.body)


def _properties_at(hit: Placed) -> int:
    """Return the position of the properties' size in the record."""
    return _topic_at(hit) + 1 + len(hit.record.topic)


def _breaking(
    kind: str, description: str, byte: int | Callable[[Placed], int], bits: int = 1
) -> None:
    """Add a fault that makes the record unreadable."""
    RECORD_FAULTS.flip(
        kind, description, "INV-LOG-001", byte, bits=bits, also=when_lost
    )


_breaking("record-size-plus-one", "a size one too large", 3)
_breaking("record-size-huge", "a size of a gigabyte", 0, 0x40)
_breaking("record-size-negative", "a negative size", 0, 0x80)
_breaking("record-magic", "another magic", 6)
_breaking("record-body-size", "a body of another size", _at["body_size"] + 3)
_breaking(
    "record-body-size-negative", "a body of negative size", _at["body_size"], 0x80
)
_breaking("record-host-v6", "a host said to be IPv6", _at["system_flags"] + 3, 0x20)
_breaking("record-topic-size", "a topic of another size", _topic_at)
_breaking(
    "record-properties-size",
    "properties of another size",
    lambda hit: _properties_at(hit) + 1,
)
_breaking(
    "record-properties-size-negative",
    "properties of negative size",
    _properties_at,
    0x80,
)


@RECORD_FAULTS.planting("record-zeros", "a record of zeros")
def _zeros(site: Site) -> Found:
    hit = site.take()
    site.overwrite(hit.log_file, hit.position, bytes(hit.size))
    return [at_record("INV-LOG-001", hit), *when_lost(site, hit)]


@RECORD_FAULTS.planting("record-zero-page", "a lost piece of a page")
def _zero_page(site: Site) -> Found:
    """Write zeros over half a page, as a lost write leaves them."""
    taken = [*site.take_round(), *site.take_round()]
    page = -(-taken[0].position // 4096) * 4096
    lost = [
        m
        for m in taken
        if m.log_file == taken[0].log_file
        and m.position < page + 2048
        and m.position + m.size > page
    ]
    site.overwrite(taken[0].log_file, page, bytes(2048))
    also = [e for m in lost for e in when_lost(site, m)]
    if _is_record(site, lost[0]):  # the page begins among its properties
        torn = lost.pop(0)
        also += [at_record(f"INV-LOG-{number:03d}", torn) for number in (1, 2, 6)]
        also.append(at_unit("INV-CQ-003", torn))
        also += keys_lost(site, torn)
    also += [
        at_record(finding, m)
        for m in taken
        for finding in ("INV-TXN-001", "INV-TXN-002", "INV-DELAY-001")
    ]
    return [at_record("INV-LOG-001", lost[0]), *also]


def _is_record(site: Site, message: Placed) -> bool:
    """Return whether the bytes in the place of *message* are a record."""
    with (site.root / message.log_file).open("rb") as opened:
        opened.seek(message.position)
        data = opened.read(message.size)
    try:
        decode_record(data, check_crc=False)
    except LayoutError:
        return False
    return True


def _checksum(
    kind: str, description: str, byte: int, *, hit: Kind = Kind.ORDINARY
) -> None:
    RECORD_FAULTS.flip(kind, description, "INV-LOG-002", byte, hit=hit)


_checksum("record-checksum", "another checksum", _at["body_crc"] + 3)
_checksum("record-body", "another first byte of the body", _BODY_AT)
_checksum("record-body-later", "another byte in the body", _BODY_AT + 90)
_checksum(
    "record-body-compressed",
    "another byte in a compressed body",
    _BODY_AT + 20,
    hit=Kind.COMPRESSED,
)


@RECORD_FAULTS.planting("record-queue-id", "another queue id")
def _queue_id(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _at["queue_id"] + 3)
    also = [at_record("INV-LOG-005", m) for m in (hit, site.after(hit))]
    beside = next(
        m
        for m in site.all_messages
        if m.record.topic == hit.record.topic
        and m.record.queue_id == hit.record.queue_id ^ 1
        and m.record.queue_offset == hit.record.queue_offset
    )
    return [at_unit("INV-CQ-004", hit), *also, at_record("INV-LOG-005", beside)]


RECORD_FAULTS.flip(
    "record-queue-offset",
    "another queue offset",
    "INV-LOG-005",
    _at["queue_offset"] + 7,
    also=lambda site, hit: (
        at_record("INV-LOG-005", site.after(hit)),
        at_unit("INV-CQ-004", hit),
    ),
)
RECORD_FAULTS.flip(
    "record-physical-offset",
    "another physical offset",
    "INV-LOG-003",
    _at["physical_offset"] + 6,
    bits=0x80,
)


@RECORD_FAULTS.planting("record-topic", "another topic", "topics are read")
def _topic(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _topic_at(hit) + 1, 0x08)
    also = [at_record("INV-LOG-005", m) for m in (hit, site.after(hit))]
    return [at_unit("INV-CQ-004", hit), *also, *keys_lost(site, hit)]


@RECORD_FAULTS.planting("record-tag", "another tag")
def _tag(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + hit.size - 2)
    return [at_unit("INV-CQ-003", hit)]


RECORD_FAULTS.flip(
    "record-flags",
    "unknown system flags",
    "INV-LOG-007",
    _at["system_flags"],
    bits=0x10,
)
RECORD_FAULTS.flip(
    "record-port",
    "a store port beyond 65535",
    "INV-LOG-011",
    _at["store_host_port"] + 1,
)
RECORD_FAULTS.flip(
    "record-half-offset",
    "an ordinary message with a prepared transaction offset",
    "INV-LOG-012",
    _at["prepared_transaction_offset"] + 7,
)
RECORD_FAULTS.flip(
    "record-deliveries",
    "a negative delivery count",
    "INV-LOG-013",
    _at["reconsume_times"],
    bits=0x80,
)


def _day_before(record: Record) -> Record:
    return replace(record, stored_at_ms=record.stored_at_ms - 86_400_000)


def _with_text(old: str, new: str) -> Change:
    """Return a function that replaces text of the properties."""
    return lambda record: replace(
        record, properties=record.properties.replace(old, new)
    )


def _flagged(record: Record) -> Record:
    return replace(record, system_flags=int(SystemFlag.COMPRESSED))


def _without_end(record: Record) -> Record:
    """Truncate a compressed body, with a matching checksum."""
    return replace(record, body=record.body[:-8] + bytes(8))


def _frame(codec: str, flag: int) -> Change:
    """Return a function that makes a body an incomplete frame of *codec*."""

    def change(record: Record) -> Record:
        size = len(record.body)
        noise = random.Random(size).randbytes(2 * size)  # noqa: S311 # no secret
        whole = pa.Codec(codec).compress(noise, asbytes=True)
        flags = int(SystemFlag.COMPRESSED) | flag
        return replace(record, body=whole[:size], system_flags=flags)

    return change


RECORD_FAULTS.change("record-time", "the day before", "INV-LOG-008", _day_before)
RECORD_FAULTS.change(
    "record-property",
    "a property without value",
    "INV-LOG-006",
    _with_text("WAIT\x01", "WAIT "),
)
RECORD_FAULTS.change(
    "record-property-zeros",
    "zeros in the properties",
    "INV-LOG-006",
    _with_text("WAIT\x01true", "WAIT\x01\0\0\0\0"),
)
RECORD_FAULTS.change(
    "record-not-compressed",
    "a body that only seems compressed",
    "INV-LOG-009",
    _flagged,
)
RECORD_FAULTS.change(
    "record-compressed-cut",
    "a compressed body without its end",
    "INV-LOG-009",
    _without_end,
    hit=Kind.COMPRESSED,
)
for _codec, _flag in (("lz4", LZ4_TYPE), ("zstd", ZSTD_TYPE)):
    RECORD_FAULTS.change(
        f"record-{_codec}-cut",
        f"the begin of a body in {_codec}'s format",
        "INV-LOG-009",
        _frame(_codec, _flag),
    )
