"""
Wrong content of single records is found: properties, flags, times, bodies.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isal import isal_zlib

from columns.scan import record_damage
from columns.scan.record_damage import BORN_MAX_MS, PORT_MAX, RecordDamage
from spark_checks.tests.building import BEGAN_AT_MS
from spark_checks.tests.readers.scanned_rows import rows_of
from spec.host import Host
from spec.store.message_record import Record, decode_record, encode_record, record_size
from spec.store.record_checksum import CHECKSUM_SIZE, encode_checksum

RECORDED = Path(__file__).resolve().parents[3] / "fixtures" / "wire" / "5.4.0-edges"


def _packed(codec: str) -> Callable[[bytes], bytes]:
    return lambda body: pa.Codec(codec).compress(body, asbytes=True)


LZ4, ZSTD = (_packed(codec)(b"body" * 99) for codec in ("lz4", "zstd"))


def _log(*records: Record) -> bytes:
    data = b""
    for record in records:
        size = len(data)
        placed = replace(record, topic="Orders", physical_offset=size)
        data += encode_record(placed)
        assert len(data) == size + record_size(placed)
    return data


def _record(
    *,
    properties: str = "",
    flags: int = 0,
    body: bytes = b"body",
    ms: int = BEGAN_AT_MS,
) -> Record:
    return Record(
        topic="",
        queue_id=0,
        queue_offset=0,
        physical_offset=0,
        body=body,
        properties=properties,
        system_flags=flags,
        stored_at_ms=ms,
    )


def _ended(record: Record, *, agrees: bool = True) -> Record:
    """Return *record* with room for a checksum, or with a wrong one."""
    end = " " * CHECKSUM_SIZE if agrees else encode_checksum(b"other").decode()
    return replace(record, properties=record.properties + end)


def _with_checksums(data: bytes, records: Sequence[Record]) -> bytes:
    """Return the log *data* of *records* with the checksums filled in."""
    found, at = b"", 0
    for record in records:
        end = at + record_size(record) + len("Orders") - len(record.topic)
        one, at = data[at:end], end
        if record.properties.endswith(" "):
            before = one[:-CHECKSUM_SIZE]
            one = before + encode_checksum(before)
        found += one
    return found


SOUND, STALE = _ended(_record()), _ended(_record(), agrees=False)


@pytest.mark.parametrize(
    ("records", "wrong"),
    [
        ([SOUND] * 4, []),
        ([SOUND, STALE, SOUND, SOUND], [1]),
        ([STALE, SOUND, SOUND, SOUND], [0]),
        ([SOUND, SOUND, STALE], []),
        ([SOUND, STALE, STALE, SOUND], []),
        ([STALE, _record(), SOUND, SOUND], []),
        ([_record(), STALE, _record(), STALE], []),
        ([_record(), STALE, SOUND, _record()], []),
        ([SOUND, _record(), SOUND], []),
        ([STALE, SOUND], []),
        ([STALE], []),
    ],
)
def test_a_checksum_that_came_along_is_not_held_against_a_record(
    records: list[Record], wrong: list[int]
) -> None:
    rows = rows_of(_with_checksums(_log(*records), records))
    assert len(rows) == len(records)
    damaged = [n for n, row in enumerate(rows) if row["damage"] & RecordDamage.CHECKSUM]
    assert damaged == wrong
    assert not any(row["damage"] & ~RecordDamage.CHECKSUM for row in rows)


@pytest.mark.parametrize("place", [15, 19, 27, 47, 75])
def test_a_changed_byte_around_the_body_is_found(place: int) -> None:
    data = bytearray(_with_checksums(_log(SOUND, SOUND, SOUND), [SOUND] * 3))
    data[len(data) // 3 + place] ^= 1
    rows = rows_of(bytes(data))
    assert [row["damage"] for row in rows] == [0, int(RecordDamage.CHECKSUM), 0]


def _damage_of(record: Record) -> int:
    """Return the damage of *record* between two intact ones."""
    rows = rows_of(_log(_record(), record, _record()))
    assert (rows[0]["damage"], rows[2]["damage"]) == (0, 0)
    return int(rows[1]["damage"])


@pytest.mark.parametrize(
    ("properties", "damage"),
    [
        ("", 0),
        ("A\x01b\x02", 0),
        ("A\x01b", 0),
        ("A\x01b\x02C\x01d", 0),
        ("A\x01\x02", 0),
        ("A", RecordDamage.PROPERTIES),
        ("A\x02", RecordDamage.PROPERTIES),
        ("A\x01b\x02C", RecordDamage.PROPERTIES),
        ("A\x01b\x01c\x02", RecordDamage.PROPERTIES),
        ("A\x01\0\x02", RecordDamage.PROPERTIES),
        ("A\x01b\x02" + 20 * "\0", 0),
        ("A\x01b\x02" + 19 * "\0", RecordDamage.PROPERTIES),
        ("A\x01b" + 20 * "\0", RecordDamage.PROPERTIES),
        ("A\x02" + 20 * "\0", RecordDamage.PROPERTIES),
    ],
)
def test_properties_are_names_and_values(properties: str, damage: int) -> None:
    assert _damage_of(_record(properties=properties)) == damage


@pytest.mark.parametrize(
    ("flags", "damage"), [(0, 0), (0x3F, 0), (0x4C0, 0), (0x800, 2), (1 << 30, 2)]
)
def test_flags_are_known(flags: int, damage: int) -> None:
    zipped = zlib.compress(b"body")
    record = _record(flags=flags & ~0x30, body=zipped if flags & 1 else b"body")
    assert _damage_of(record) == damage


@pytest.mark.parametrize(
    ("back_ms", "damage"), [(0, 0), (10_000, 0), (10_001, RecordDamage.TIME)]
)
def test_times_rise_but_for_a_corrected_clock(back_ms: int, damage: int) -> None:
    assert _damage_of(_record(ms=BEGAN_AT_MS - back_ms)) == damage


def _host(port: int) -> Host:
    return Host(bytes(4), port)


@pytest.mark.parametrize(
    ("changes", "damage"),
    [
        ({"born_host": _host(0), "store_host": _host(PORT_MAX)}, 0),
        ({"born_host": _host(PORT_MAX + 1)}, RecordDamage.PORT),
        ({"store_host": _host(-1)}, RecordDamage.PORT),
        ({"prepared_transaction_offset": 1}, RecordDamage.HALF_OFFSET),
        (
            {"prepared_transaction_offset": 1, "system_flags": 4},
            RecordDamage.HALF_OFFSET,
        ),
        ({"prepared_transaction_offset": 1, "system_flags": 8}, 0),
        ({"born_at_ms": BORN_MAX_MS, "reconsume_times": 99}, 0),
        ({"born_at_ms": BORN_MAX_MS + 1}, RecordDamage.RANGE),
        ({"born_at_ms": -1}, RecordDamage.RANGE),
        ({"reconsume_times": -1}, RecordDamage.RANGE),
    ],
)
def test_numbers_are_in_the_range_of_what_is_written(
    changes: Mapping[str, Any], damage: int
) -> None:
    assert _damage_of(replace(_record(), **changes)) == damage


@pytest.mark.parametrize(
    ("flags", "body", "damage"),
    [
        (1, zlib.compress(b"body" * 99), 0),
        (0x301, zlib.compress(b"body" * 99), 0),
        (1, zlib.compress(b"body" * 99)[:-1], RecordDamage.COMPRESSION),
        (1, b"body", RecordDamage.COMPRESSION),
        (1, b"", 0),
        (1, LZ4, RecordDamage.COMPRESSION),
        (0x101, LZ4, 0),
        (0x101, LZ4 + LZ4, 0),
        (0x101, LZ4[:-1], RecordDamage.COMPRESSION),
        (0x101, LZ4 + b"more behind the end", RecordDamage.COMPRESSION),
        (0x101, ZSTD, RecordDamage.COMPRESSION),
        (0x101, b"", RecordDamage.COMPRESSION),
        (0x201, ZSTD, 0),
        (0x201, ZSTD[:-1], RecordDamage.COMPRESSION),
        (0x201, LZ4, RecordDamage.COMPRESSION),
        (0x201, b"", 0),
        (0x401, b"of no kind that is known", 0),
        (0x200, b"not said to be compressed", 0),
        (0, b"body", 0),
    ],
)
def test_compressed_bodies_inflate(flags: int, body: bytes, damage: int) -> None:
    assert _damage_of(_record(flags=flags, body=body)) == damage


@given(st.binary(max_size=300), st.integers(0, 9), st.data())
def test_isal_and_zlib_accept_the_same_bodies(
    text: bytes, level: int, data: st.DataObject
) -> None:
    body = bytearray(zlib.compress(text, level))
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] ^= data.draw(st.integers(0, 255))
    del body[data.draw(st.integers(1, len(body))) :]
    record = _record(flags=1, body=bytes(body))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_damage, "zlib", zlib)
        expected = _damage_of(record)
        patch.setattr(record_damage, "zlib", isal_zlib)
        assert _damage_of(record) == expected


@pytest.mark.parametrize("flags", [1, 0x101, 0x201])
def test_a_body_is_not_inflated_beyond_a_limit(
    flags: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = {1: zlib.compress, 0x101: _packed("lz4"), 0x201: _packed("zstd")}[flags]
    cut = _record(flags=flags, body=pack(bytes(1 << 21))[:-4])
    assert _damage_of(cut) == RecordDamage.COMPRESSION
    monkeypatch.setattr(record_damage, "INFLATED_MAX", 1 << 20)
    assert _damage_of(cut) == 0


def test_nothing_is_said_of_a_codec_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = _record(flags=0x101, body=LZ4[:-1])
    assert _damage_of(cut) == RecordDamage.COMPRESSION
    monkeypatch.setattr(record_damage, "_CODECS", {})
    assert _damage_of(cut) == 0


@pytest.mark.parametrize("name", ["lz4", "zstd"])
def test_bodies_that_were_recorded_inflate(name: str) -> None:
    data = (RECORDED / f"{name}.record").read_bytes()
    flags, body = decode_record(data).system_flags, decode_record(data).body
    assert _damage_of(_record(flags=flags, body=body)) == 0
    assert _damage_of(_record(flags=flags, body=body[:-1])) == RecordDamage.COMPRESSION
