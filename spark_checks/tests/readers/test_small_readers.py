"""
Checkpoints, configuration files and extensions are tables, damaged or not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from spark_checks.readers import queue_extension
from spark_checks.readers.config import ConfigSource
from spark_checks.readers.queue_extension import QueueExtensionSource
from spark_checks.readers.whole_files import CheckpointSource
from spark_checks.store_files import StoreFile, list_store
from spark_checks.tables.store_tables import (
    open_checkpoint,
    open_extensions,
    open_settings,
)
from spec.store.checkpoint import FILE_SIZE, decode_checkpoint
from spec.store.config.config_files import decode_consumer_offsets
from spec.store.queue_extension import (
    EXTENSION,
    ExtensionUnit,
    decode_extension_units,
    encode_extension_unit,
)
from spec.wire.bodies import fastjson

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
STORES = sorted((FIXTURES / "store").iterdir())
PARTS = sorted(
    (FIXTURES / "parts").glob(f"*/{EXTENSION}/PartsTopic/0/*"), key=lambda p: p.parts
)
PARTS_SIZE = 100
"""Bytes of each recorded extension file; zeros at the end are not kept."""
FOLDER = f"{EXTENSION}/Orders/3"
PATH = f"{FOLDER}/{0:020d}"
UNITS = [
    ExtensionUnit(
        tags_code=number,
        stored_at_ms=1_700_000_000_000 + number,
        filter_bits=bytes([number]) * (number % 5),
    )
    for number in range(20)
]
Row = dict[str, Any]


def extension_rows(data: bytes, *, base: int = 0) -> list[Row]:
    file = StoreFile(path=f"{FOLDER}/{base:020d}", size=len(data))
    return list(QueueExtensionSource.rows_of(data, file))


def shape(rows: list[Row]) -> list[tuple[str, int, int]]:
    """Return kind, position and size of every row."""
    return [(row["kind"], row["position"], row["size"]) for row in rows]


@pytest.mark.parametrize("path", PARTS, ids=lambda path: "-".join(path.parts[-5::4]))
def test_a_real_extension_is_read_as_the_specification_reads_it(path: Path) -> None:
    data = path.read_bytes().ljust(PARTS_SIZE, b"\0")
    rows = extension_rows(data, base=int(path.name))
    units = [row for row in rows if row["kind"] == "unit"]
    assert {
        row["position"]: ExtensionUnit(
            tags_code=row["tags_code"],
            stored_at_ms=row["stored_at_ms"],
            filter_bits=row["filter_bits"],
        )
        for row in units
    } == decode_extension_units(data)
    assert [row["kind"] for row in rows[len(units) :]] in (["end"], ["tail"])
    assert all(row["offset"] == int(path.name) + row["position"] for row in rows)


def test_there_are_real_extensions() -> None:
    assert len(PARTS) >= 10


def test_the_rows_of_an_extension_cover_it() -> None:
    data = b"".join(map(encode_extension_unit, UNITS)).ljust(4096, b"\0")
    rows = extension_rows(data)
    assert [row["kind"] for row in rows] == ["unit"] * len(UNITS) + ["tail"]
    assert rows[-1].get("reason") is None
    assert sum(row["size"] for row in rows) == len(data)


@settings(deadline=None)
@given(st.data())
def test_a_wrong_byte_in_an_extension_harms_two_units_at_most(
    data: st.DataObject,
) -> None:
    whole = b"".join(map(encode_extension_unit, UNITS)) + b"\xff\xff"
    before = shape(extension_rows(whole))
    at = data.draw(st.integers(0, len(whole) - 3))
    wrong = bytearray(whole)
    wrong[at] ^= data.draw(st.integers(1, 255))
    found = shape(extension_rows(bytes(wrong)))
    assert sum(size for _, _, size in found) == len(whole)
    harmed = [row for row in before if row not in found]
    if wrong[at : at + 2] != b"\xff\xff" and "end" not in {k for k, *_ in found[:-1]}:
        assert len(harmed) <= 2


@settings(deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_are_covered_by_rows(first: bytes, last: bytes) -> None:
    data = first + encode_extension_unit(UNITS[3]) + last
    rows = extension_rows(data)
    places = [row["position"] for row in rows]
    assert places == [sum(row["size"] for row in rows[:n]) for n in range(len(rows))]
    assert sum(row["size"] for row in rows) == len(data)
    assert all(row.get("reason") for row in rows if row["kind"] == "damaged")


@pytest.mark.parametrize("places_at_once", [1, 7, 64])
@given(gap=st.binary(min_size=1, max_size=200), number=st.integers(0, 19))
def test_units_are_searched_in_pieces(
    places_at_once: int, gap: bytes, number: int
) -> None:
    units = [encode_extension_unit(unit) for unit in UNITS]
    data = units[3] + b"\x00\x01" + gap + units[number] + bytes(40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue_extension, "_PLACES_AT_FIRST", places_at_once)
        found = extension_rows(data)
    assert shape(found) == shape(extension_rows(data))
    begin = len(data) - 40 - len(units[number])
    assert ("unit", begin, len(units[number])) in shape(found)


def test_a_hole_in_an_extension_is_damage() -> None:
    units = [encode_extension_unit(unit) for unit in UNITS]
    begin = sum(map(len, units[:7]))
    data = b"".join([*units[:7], bytes(len(units[7])), *units[8:]])
    assert shape(extension_rows(data))[7] == ("damaged", begin, len(units[7]))
    assert len(extension_rows(data)) == len(units)


def test_what_is_beyond_the_bytes_that_are_read_is_a_row() -> None:
    data = encode_extension_unit(UNITS[0])
    file = StoreFile(path=PATH, size=len(data) + 5)
    rows = list(QueueExtensionSource.rows_of(data, file))
    assert shape(rows)[-1] == ("damaged", len(data), 5)


@pytest.mark.parametrize("store", STORES, ids=lambda path: path.name)
def test_a_real_checkpoint_has_its_times(store: Path) -> None:
    data = (store / "checkpoint").read_bytes()
    (row,) = CheckpointSource.rows_of(
        data, StoreFile(path="checkpoint", size=len(data))
    )
    found = decode_checkpoint(data)
    assert (row["kind"], row["reason"]) == ("checkpoint", None)
    assert (row["physic_ms"], row["logics_ms"], row["index_ms"]) == (
        found.physic_ms,
        found.logics_ms,
        found.index_ms,
    )


@pytest.mark.parametrize(
    ("data", "kind", "reason"),
    [
        (b"", "damaged", "0 bytes, the times take 48"),
        (bytes(47), "damaged", "47 bytes, the times take 48"),
        (bytes(48), "checkpoint", "48 bytes, a checkpoint has 4096"),
        (bytes(FILE_SIZE - 1) + b"x", "checkpoint", "bytes follow the fields"),
        (bytes(FILE_SIZE), "checkpoint", None),
    ],
)
def test_a_damaged_checkpoint_has_a_reason(
    data: bytes, kind: str, reason: str | None
) -> None:
    (row,) = CheckpointSource.rows_of(
        data, StoreFile(path="checkpoint", size=len(data))
    )
    assert (row["kind"], row["reason"]) == (kind, reason)


def config_rows(data: bytes) -> list[Row]:
    file = StoreFile(path="config/x.json", size=len(data))
    return list(ConfigSource.rows_of(data, file))


@pytest.mark.parametrize(
    "path", sorted((FIXTURES / "store").glob("*/config/*.json")), ids=str
)
def test_every_value_of_a_real_file_of_config_has_a_row(path: Path) -> None:
    data = path.read_bytes()
    rebuilt: dict[str, Any] = {}
    for row in config_rows(data):
        place, last = rebuilt, row["table"]
        for level in ("name", "key"):
            if row.get(level) is not None:
                place, last = place.setdefault(last, {}), row[level]
        place[last] = row["value"]
    assert rebuilt == _texts(fastjson.loads(data), 3)


def _texts(value: object, levels: int) -> object:
    """Return *value* with text for scalars and deep values."""
    if levels and isinstance(value, dict) and value:
        return {str(key): _texts(member, levels - 1) for key, member in value.items()}
    return value if isinstance(value, str) else fastjson.dumps(value).decode()


@pytest.mark.parametrize(
    ("data", "position"),
    [(b"", 0), (bytes(300), 0), (b'{"offsetTable":{"a@b":{0:1}', 27), (b"[1]", 0)],
)
def test_a_file_of_config_that_cannot_be_read_is_one_row(
    data: bytes, position: int
) -> None:
    (row,) = config_rows(data)
    assert (row["kind"], row["position"]) == ("damaged", position)
    assert row["reason"]


def test_numbers_beyond_64_bits_stay_text() -> None:
    rows = config_rows(b'{"t":{"a":9223372036854775807,"b":9223372036854775808}}')
    assert [(row["value"], row["number"]) for row in rows] == [
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
    ]


def test_the_tables_of_a_store_are_asked_by_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / PATH
    path.parent.mkdir(parents=True)
    path.write_bytes(encode_extension_unit(UNITS[1]) + bytes(9))
    config = FIXTURES / "store" / "4.6.0-stopped" / "config" / "consumerOffset.json"
    for name, data in {
        "config/consumerOffset.json": config.read_bytes(),
        "config/topics.json.bak": b"\0\0",
        "checkpoint": bytes(8),
        "commitlog/nothing": b"",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    store = list_store(str(tmp_path))
    (checkpoint,) = open_checkpoint(spark, store).collect()
    assert (checkpoint.kind, checkpoint.physic_ms) == ("damaged", None)
    extensions = open_extensions(spark, store).orderBy("position").collect()
    assert [(row.kind, row.queue_id, row.size) for row in extensions] == [
        ("unit", 3, 21),
        ("tail", 3, 9),
    ]
    settings = open_settings(spark, store)
    (damaged,) = settings.where("kind = 'damaged'").collect()
    assert damaged.file == "config/topics.json.bak"
    expected = {
        (f"{topic}@{group}", str(queue), offset)
        for (topic, group), queues in decode_consumer_offsets(
            config.read_bytes()
        ).offsets.items()
        for queue, offset in queues.items()
    }
    rows = settings.where("table = 'offsetTable'").collect()
    assert {(row.name, row.key, row.number) for row in rows} == expected
    assert json.loads(settings.toJSON().first() or "{}")["file"]
