"""
Test vectors for implementations in any language: bytes, and what they mean.

They are made from the declarations and kept as JSON in ``fixtures/vectors``. Bytes
are hex, 64-bit integers are strings, because not every JSON reader keeps them. A
vector with ``refused`` holds bytes that a reader must not take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from spec.host import Host
from spec.integers import body_crc, java_string_hash
from spec.store.blank import Blank, encode_blank
from spec.store.checkpoint import Checkpoint, encode_checkpoint
from spec.store.consume_queue import Unit, encode_unit
from spec.store.file_names import file_name
from spec.store.index_file import IndexHeader, IndexItem, encode_header, encode_item
from spec.store.index_file import key_hash as hash_of_key
from spec.store.message_record import MAGIC_V2, Record, SystemFlag, encode_record
from spec.wire.command import Command, encode_command
from spec.wire.message_id import encode_message_id
from spec.wire.properties import decode_properties
from spec.wire.unique_key import decode_unique_key

Vector = dict[str, Any]

V4 = Host.of("127.0.0.1", 10_911)
V6 = Host.of("2001:db8::1", 10_911)
BASE = Record(
    topic="TopicTest",
    queue_id=3,
    queue_offset=7,
    physical_offset=1_073_741_824,
    body=b"hello",
    properties="KEYS\x01a b\x02TAGS\x01TagA\x02",
    flag=-1,
    born_at_ms=1_573_000_000_000,
    born_host=Host.of("10.0.0.1", 50_000),
    stored_at_ms=1_573_000_000_123,
    store_host=V4,
)


def vectors() -> dict[str, list[Vector]]:
    """Return all vectors by the name of their file."""
    return {
        "frames": list(_frames()),
        "records": list(_records()),
        "units": list(_units()),
        "index": list(_index()),
        "hashes": list(_hashes()),
        "ids": list(_ids()),
        "properties": list(_properties()),
        "files": list(_files()),
    }


def _plain(value: Any) -> Any:
    """Return *value* as JSON shows it: bytes as hex, large integers as strings."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    is_large = isinstance(value, int) and abs(value) >= 2**31
    return str(value) if is_large else value


def _frames() -> Iterator[Vector]:
    commands = {
        "a request in JSON": Command(105, opaque=1, fields={"topic": "T"}),
        "the same in binary": Command(
            105, opaque=1, fields={"topic": "T"}, serialize_type=1
        ),
        "a response": Command(17, opaque=1, flag=1, remark="No topic route info"),
        "one way, with a body": Command(34, opaque=-1, flag=2, body=b"{}"),
        "a header of 256 bytes and more": Command(10, fields={"a": "x" * 256}),
        "no header fields, in binary": Command(30, serialize_type=1),
    }
    for says, command in commands.items():
        data = encode_command(command)
        yield {"says": says, "bytes": data.hex(), "values": _plain(asdict(command))}
    whole = encode_command(commands["a request in JSON"])
    for says, data in {
        "the size word is negative": b"\xff" * 4 + whole[4:],
        "the size word is below 4": b"\0\0\0\3" + whole[4:],
        "the header reaches past the frame's end": whole[:5] + b"\xff" + whole[6:],
        "the header's notation is unknown": whole[:4] + b"\2" + whole[5:],
        "the header is no JSON": whole[:8] + b"!" + whole[9:],
    }.items():
        yield {"says": says, "bytes": data.hex(), "refused": True}


def _records() -> Iterator[Vector]:
    wide = SystemFlag.BORN_HOST_V6 | SystemFlag.STORE_HOST_V6
    records = {
        "hosts are IPv4": BASE,
        "nothing that can be left out": replace(BASE, body=b"", properties=""),
        "the born host is IPv6": replace(BASE, system_flags=1 << 4, born_host=V6),
        "both hosts are IPv6": replace(
            BASE, system_flags=int(wide), born_host=V6, store_host=V6
        ),
        "a topic of 127 bytes": replace(BASE, topic="T" * 127),
        "a topic of 200 bytes, since 5.0": replace(
            BASE, topic="T" * 200, magic=MAGIC_V2
        ),
        "a body whose CRC-32 has its sign bit": replace(BASE, body=b"123456789"),
    }
    for says, record in records.items():
        values = asdict(record) | {
            "born_host": str(record.born_host),
            "store_host": str(record.store_host),
            "body_crc": body_crc(record.body),
        }
        data = encode_record(record)
        yield {"says": says, "bytes": data.hex(), "values": _plain(values)}
    whole = encode_record(BASE)
    for says, data in {
        "the size is one too many": whole[:3]
        + bytes([whole[3] + 1])
        + whole[4:]
        + b"!",
        "the magic is another": whole[:4] + b"\0" + whole[5:],
        "the body is another": whole[:88] + b"J" + whole[89:],
        "the last byte is missing": whole[:-1],
        "the body's size is negative": whole[:84] + b"\xff" * 4 + whole[88:],
    }.items():
        yield {"says": says, "bytes": data.hex(), "refused": True}
    yield {
        "says": "a blank",
        "bytes": encode_blank(Blank(100)).hex(),
        "values": {"size": 100},
    }


def _units() -> Iterator[Vector]:
    for says, unit in {
        "a message": Unit(commit_log_offset=2**32, size=178, tags_code=2_598_919),
        "a negative hash": Unit(commit_log_offset=0, size=91, tags_code=-1),
        "a delivery time": Unit(commit_log_offset=9, size=91, tags_code=1573 * 10**9),
        "a filler": Unit(commit_log_offset=0, size=2**31 - 1),
    }.items():
        data = encode_unit(unit)
        yield {"says": says, "bytes": data.hex(), "values": _plain(asdict(unit))}


def _index() -> Iterator[Vector]:
    header = IndexHeader(
        begin_stored_at_ms=BASE.born_at_ms,
        end_stored_at_ms=BASE.stored_at_ms,
        begin_offset=0,
        end_offset=2**32,
        slot_count=2,
        index_count=3,
    )
    code = hash_of_key("TopicTest", "a")
    item = IndexItem(key_hash=code, commit_log_offset=2**32, seconds=5, previous_item=1)
    data = encode_header(header)
    yield {"says": "a header", "bytes": data.hex(), "values": _plain(asdict(header))}
    data = encode_item(item)
    yield {"says": "an item", "bytes": data.hex(), "values": _plain(asdict(item))}


def _hashes() -> Iterator[Vector]:
    for text in ("", "a", "TagA", "Grüße", "\U0001f600", "polygenelubricants"):
        yield {"says": "tags code", "text": text, "hash": java_string_hash(text)}
    for topic, key in (("T", "k"), ("TopicTest", "a b"), ("T", "ajvakuzm")):
        code = hash_of_key(topic, key)
        yield {"says": "key hash", "topic": topic, "key": key, "hash": code}
    for body in (b"", b"hello", b"123456789", bytes(256)):
        yield {"says": "checksum", "bytes": body.hex(), "crc": body_crc(body)}


def _ids() -> Iterator[Vector]:
    for host in (V4, V6):
        text = encode_message_id(host, 2**32)
        values = {"host": str(host), "commit_log_offset": str(2**32)}
        yield {"says": "message id", "text": text, "values": values}
    for text in (
        "7F0000013D0C18B4AAC25D2A3F5E0003",
        "20010DB8000000000000000000000001000018B4AAC25D2A3F5EFFFF",
    ):
        values = _plain(asdict(decode_unique_key(text)))
        yield {"says": "unique key", "text": text, "values": values}
    for text in ("", "7F", "Z" * 32, "7F000001FFFFFFFF0000000000000000"):
        yield {"says": "message id", "text": text, "refused": True}


def _properties() -> Iterator[Vector]:
    for says, text in {
        "two, with a final separator": "KEYS\x01a b\x02TAGS\x01t\x02",
        "two, without one": "KEYS\x01a b\x02TAGS\x01t",
        "a pair without a separator is passed over": "x\x02TAGS\x01t\x02",
        "a pair without a value is passed over": "x\x01\x02TAGS\x01t\x02",
        "none": "",
    }.items():
        yield {"says": says, "text": text, "values": decode_properties(text)}


def _files() -> Iterator[Vector]:
    for offset in (0, 6_000_000, 2**30, 2**63 - 1):
        yield {"says": "file name", "offset": str(offset), "name": file_name(offset)}
    checkpoint = Checkpoint(physic_ms=10**12, logics_ms=10**12 + 1, index_ms=7)
    yield {
        "says": "the checkpoint's first 40 bytes",
        "bytes": encode_checkpoint(checkpoint)[:40].hex(),
        "values": _plain(asdict(checkpoint)) | {"safe_ms": str(checkpoint.safe_ms)},
    }
