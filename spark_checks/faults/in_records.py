"""
Faults in single records of the commit log.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from spark_checks.faults.fault import (
    Expected,
    Fault,
    Site,
    at_record,
    at_unit,
    when_lost,
)
from spark_checks.faults.index_places import keys_lost
from spark_checks.generate.part import Placed
from spec.derive.numpy_dtype import leading_fields
from spec.layout import LayoutError
from spec.store.message_record import SystemFlag, decode_record, record_layout
from spec.wire.bodies.zlib_stream import LZ4_TYPE, ZSTD_TYPE

Found = tuple[Expected, Sequence[Expected]]
_at = {f.name: f.offset for f in leading_fields(record_layout, system_flags=0)}
_BODY_AT = _at["body_size"] + 4


def _topic_at(hit: Placed) -> int:
    """Return the position of the topic's size in the record."""
    return _BODY_AT + len(hit.record.body)


def _properties_at(hit: Placed) -> int:
    """Return the position of the properties' size in the record."""
    return _topic_at(hit) + 1 + len(hit.record.topic)


def _breaking(kind: str, description: str, at: int, bits: int = 1) -> Fault:
    """Return a fault that flips *bits* of a byte and makes the record unreadable."""

    def plant(site: Site) -> Found:
        hit = site.take()
        site.flip(hit.log_file, hit.position + at, bits)
        return at_record("INV-LOG-001", hit), when_lost(site, hit)

    return Fault(kind=kind, description=description, plant=plant)


def _checksum(kind: str, description: str, at: int) -> Fault:
    def plant(site: Site) -> Found:
        hit = site.take()
        site.flip(hit.log_file, hit.position + at)
        return at_record("INV-LOG-002", hit), ()

    return Fault(kind=kind, description=description, plant=plant)


def _topic_of_another_size(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _topic_at(hit))
    return at_record("INV-LOG-001", hit), when_lost(site, hit)


def _properties_of_another_size(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _properties_at(hit) + 1)
    return at_record("INV-LOG-001", hit), when_lost(site, hit)


def _negative_properties(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _properties_at(hit), 0x80)
    return at_record("INV-LOG-001", hit), when_lost(site, hit)


def _zeros(site: Site) -> Found:
    hit = site.take()
    site.overwrite(hit.log_file, hit.position, bytes(hit.size))
    return at_record("INV-LOG-001", hit), when_lost(site, hit)


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
    return at_record("INV-LOG-001", lost[0]), also


def _compressed_body(site: Site) -> Found:
    hit = next(m for m in site.take_round() if m.record.system_flags & 1)
    site.flip(hit.log_file, hit.position + _BODY_AT + 20)
    return at_record("INV-LOG-002", hit), ()


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
    return at_unit("INV-CQ-004", hit), [*also, at_record("INV-LOG-005", beside)]


def _queue_offset(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _at["queue_offset"] + 7)
    also = [at_record("INV-LOG-005", site.after(hit)), at_unit("INV-CQ-004", hit)]
    return at_record("INV-LOG-005", hit), also


def _physical_offset(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _at["physical_offset"] + 6, 0x80)
    return at_record("INV-LOG-003", hit), ()


def _topic(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _topic_at(hit) + 1, 0x08)
    also = [at_record("INV-LOG-005", m) for m in (hit, site.after(hit))]
    return at_unit("INV-CQ-004", hit), [*also, *keys_lost(site, hit)]


def _tag(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + hit.size - 2)
    return at_unit("INV-CQ-003", hit), ()


def _flags(site: Site) -> Found:
    hit = site.take()
    site.flip(hit.log_file, hit.position + _at["system_flags"], 0x10)
    return at_record("INV-LOG-007", hit), ()


def _time(site: Site) -> Found:
    """Move a record's store time to the day before."""
    hit = site.take()
    site.rewrite(
        hit, replace(hit.record, stored_at_ms=hit.record.stored_at_ms - 86_400_000)
    )
    return at_record("INV-LOG-008", hit), ()


def _no_value(site: Site) -> Found:
    """Remove the separator between a name and its value."""
    hit = site.take()
    text = hit.record.properties.replace("WAIT\x01", "WAIT ")
    site.rewrite(hit, replace(hit.record, properties=text))
    return at_record("INV-LOG-006", hit), ()


def _zeros_in_properties(site: Site) -> Found:
    hit = site.take()
    text = hit.record.properties.replace("WAIT\x01true", "WAIT\x01\0\0\0\0")
    site.rewrite(hit, replace(hit.record, properties=text))
    return at_record("INV-LOG-006", hit), ()


def _not_compressed(site: Site) -> Found:
    hit = site.take()
    site.rewrite(hit, replace(hit.record, system_flags=int(SystemFlag.COMPRESSED)))
    return at_record("INV-LOG-009", hit), ()


def _cut_compressed(site: Site) -> Found:
    """Truncate a compressed body, with a matching checksum."""
    hit = next(m for m in site.take_round() if m.record.system_flags & 1)
    body = hit.record.body[:-8] + bytes(8)
    site.rewrite(hit, replace(hit.record, body=body))
    return at_record("INV-LOG-009", hit), ()


def _cut_frame(kind: str, codec: str, flag: int) -> Fault:
    """Return a fault that makes a body an incomplete frame of *codec*."""

    def plant(site: Site) -> Found:
        hit = site.take()
        size = len(hit.record.body)
        noise = random.Random(size).randbytes(2 * size)  # noqa: S311 # no secret
        whole = pa.Codec(codec).compress(noise, asbytes=True)
        flags = int(SystemFlag.COMPRESSED) | flag
        found = replace(hit.record, body=whole[:size], system_flags=flags)
        site.rewrite(hit, found)
        return at_record("INV-LOG-009", hit), ()

    description = f"the begin of a body in {codec}'s format"
    return Fault(kind=kind, description=description, plant=plant)


RECORD_FAULTS: tuple[Fault, ...] = (
    _breaking("record-size-plus-one", "a size one too large", 3),
    _breaking("record-size-huge", "a size of a gigabyte", 0, 0x40),
    _breaking("record-size-negative", "a negative size", 0, 0x80),
    _breaking("record-magic", "another magic", 6),
    _breaking("record-body-size", "a body of another size", _at["body_size"] + 3),
    _breaking(
        "record-body-size-negative",
        "a body of negative size",
        _at["body_size"],
        0x80,
    ),
    _breaking(
        "record-host-v6", "a host said to be IPv6", _at["system_flags"] + 3, 0x20
    ),
    Fault(
        kind="record-topic-size",
        description="a topic of another size",
        plant=_topic_of_another_size,
    ),
    Fault(
        kind="record-properties-size",
        description="properties of another size",
        plant=_properties_of_another_size,
    ),
    Fault(
        kind="record-properties-size-negative",
        description="properties of negative size",
        plant=_negative_properties,
    ),
    Fault(kind="record-zeros", description="a record of zeros", plant=_zeros),
    Fault(
        kind="record-zero-page", description="a lost piece of a page", plant=_zero_page
    ),
    _checksum("record-checksum", "another checksum", _at["body_crc"] + 3),
    _checksum("record-body", "another first byte of the body", _BODY_AT),
    _checksum("record-body-later", "another byte in the body", _BODY_AT + 90),
    Fault(
        kind="record-body-compressed",
        description="another byte in a compressed body",
        plant=_compressed_body,
    ),
    Fault(kind="record-queue-id", description="another queue id", plant=_queue_id),
    Fault(
        kind="record-queue-offset",
        description="another queue offset",
        plant=_queue_offset,
    ),
    Fault(
        kind="record-physical-offset",
        description="another physical offset",
        plant=_physical_offset,
    ),
    Fault(
        kind="record-topic",
        description="another topic",
        plant=_topic,
        claims=frozenset({"topics are read"}),
    ),
    Fault(kind="record-tag", description="another tag", plant=_tag),
    Fault(kind="record-flags", description="unknown system flags", plant=_flags),
    Fault(kind="record-time", description="the day before", plant=_time),
    Fault(
        kind="record-property", description="a property without value", plant=_no_value
    ),
    Fault(
        kind="record-property-zeros",
        description="zeros in the properties",
        plant=_zeros_in_properties,
    ),
    Fault(
        kind="record-not-compressed",
        description="a body that only seems compressed",
        plant=_not_compressed,
    ),
    Fault(
        kind="record-compressed-cut",
        description="a compressed body without its end",
        plant=_cut_compressed,
    ),
    _cut_frame("record-lz4-cut", "lz4", LZ4_TYPE),
    _cut_frame("record-zstd-cut", "zstd", ZSTD_TYPE),
)
