"""
Vectors of message records, and of the blanks that end a file of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from spec.host import Host
from spec.integers import CRC_IS_POSITIVE, body_crc
from spec.store.blank import Blank, encode_blank
from spec.store.message_record import (
    MAGIC_V2,
    RECORD_BODY_SIZE,
    RECORD_BODY_UNTOUCHED,
    RECORD_CRC,
    RECORD_FLAG,
    RECORD_HOSTS,
    RECORD_MAGIC,
    RECORD_MAGIC_V2,
    RECORD_PROPERTIES_SIZE,
    RECORD_TOPIC_SIZE,
    RECORD_UNKNOWN_FLAGS,
    Record,
    SystemFlag,
    decode_record,
    encode_record,
)
from spec.vectors.form import Flag, Group, Result, Vector, VectorFile, values_of

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
BOTH_V6 = int(SystemFlag.BORN_HOST_V6 | SystemFlag.STORE_HOST_V6)
BODY_OF_CRC_0 = bytes.fromhex("9d0ad96d")
COMPRESSIONS = {0: "zlib, not named", 1: "LZ4", 2: "Zstandard", 3: "zlib"}
"""Compression types by bits 8 to 10 of the system flags, from 5.0 on."""

FLAGS = {
    "Recorded": Flag(meaning="A real broker wrote these bytes."),
    "Ipv6Host": Flag(
        meaning="A host is 16 bytes and a port where bit 4 (born) or 5 (store) of the"
        " system flags is set; before 4.6 these bits mean nothing.",
        clauses=(RECORD_HOSTS,),
    ),
    "WideTopic": Flag(
        meaning="The magic 0xDAA320AB: the topic's length takes two bytes. Since 5.0.",
        clauses=(RECORD_MAGIC_V2,),
    ),
    "TopicSize": Flag(
        meaning="The topic's length is a signed byte.", clauses=(RECORD_TOPIC_SIZE,)
    ),
    "PropertiesSize": Flag(
        meaning="The properties' length is a signed 16-bit number.",
        clauses=(RECORD_PROPERTIES_SIZE,),
    ),
    "Checksum": Flag(
        meaning="CRC-32 of the body without its sign bit; 0 is a checksum like others.",
        clauses=(CRC_IS_POSITIVE, RECORD_CRC),
    ),
    "SystemFlag": Flag(
        meaning="One bit of the system flags is set. Those that are not known"
        " are kept.",
        clauses=(RECORD_UNKNOWN_FLAGS,),
    ),
    "Compressed": Flag(
        meaning="Bit 0 of the system flags: the body is compressed, and the"
        " checksum is of"
        " the compressed bytes. Bits 8 to 10 name the way, since 5.0.",
        clauses=(RECORD_BODY_UNTOUCHED,),
    ),
    "Unicode": Flag(meaning="Texts are UTF-8; a character may take four bytes."),
    "NegativeFlag": Flag(
        meaning="The flag is any 32-bit number.", clauses=(RECORD_FLAG,)
    ),
    "Empty": Flag(meaning="A part has no bytes.", clauses=(RECORD_BODY_SIZE,)),
    "BadMagic": Flag(meaning="Bytes 4 to 8 are no magic.", clauses=(RECORD_MAGIC,)),
    "BadSize": Flag(meaning="A size is not that of what it counts."),
    "Truncated": Flag(meaning="The bytes end before the record does."),
    "KeyCollision": Flag(meaning="Aa and BB have one hash; see hashes.json."),
}

_OF_EDGE = {
    "crc": "Checksum",
    "topic_127": "TopicSize",
    "topic_1": "WideTopic",
    "topic_2": "WideTopic",
    "properties": "PropertiesSize",
    "system": "SystemFlag",
    "zlib": "Compressed",
    "lz4": "Compressed",
    "zstd": "Compressed",
    "unicode": "Unicode",
    "key": "KeyCollision",
    "flag": "NegativeFlag",
    "born_host_v6": "Ipv6Host",
    "both_hosts_v6": "Ipv6Host",
}


def record_file(recorded: Mapping[str, bytes]) -> VectorFile:
    """Return the vectors of records; *recorded* holds such bytes by file name."""
    return VectorFile(
        algorithm="message record",
        meaning="A message as the commit log keeps it and consumers receive it.",
        flags=FLAGS,
        groups=(
            Group(type="record", tests=(*_made(), *_bits(), *_refused())),
            Group(type="record", tests=tuple(_recorded(recorded))),
            Group(type="blank", tests=tuple(_blanks())),
        ),
    )


def record_vector(comment: str, record: Record, *flags: str) -> Vector:
    """Return the test that *record* is written and read so."""
    return _read_vector(comment, encode_record(record), *flags)


def _read_vector(comment: str, data: bytes, *flags: str) -> Vector:
    record = decode_record(data)
    values = values_of(record) | {"body_crc": body_crc(record.body)}
    return Vector(
        comment=comment, members={"bytes": data, "values": values}, flags=flags
    )


def _made() -> Iterator[Vector]:
    yield record_vector("hosts are IPv4", BASE)
    bare = replace(BASE, body=b"", properties="")
    yield record_vector("nothing that can be left out", bare, "Empty")
    yield record_vector(
        "the born host is IPv6",
        replace(BASE, system_flags=1 << 4, born_host=V6),
        "Ipv6Host",
    )
    yield record_vector(
        "the store host is IPv6",
        replace(BASE, system_flags=1 << 5, store_host=V6),
        "Ipv6Host",
    )
    both = replace(BASE, system_flags=BOTH_V6, born_host=V6, store_host=V6)
    yield record_vector("both hosts are IPv6", both, "Ipv6Host")
    yield record_vector(
        "a topic of 127 bytes", replace(BASE, topic="T" * 127), "TopicSize"
    )
    for size in (1, 127, 128, 255, 32_767):
        wide = replace(BASE, topic="T" * size, magic=MAGIC_V2)
        yield record_vector(f"a topic of {size} bytes, wide", wide, "WideTopic")
    longest = replace(BASE, properties="p\x01" + "v" * 32_765)
    yield record_vector("properties of 32767 bytes", longest, "PropertiesSize")
    for body in (b"123456789", BODY_OF_CRC_0):
        text = f"a body whose checksum is {body_crc(body)}"
        yield record_vector(text, replace(BASE, body=body), "Checksum")
    texts = replace(BASE, body="中文😀".encode(), properties="KEYS\x01Grüße 😀\x02")
    yield record_vector("characters of every width", texts, "Unicode")
    extremes = replace(
        BASE,
        queue_id=2**31 - 1,
        flag=-(2**31),
        queue_offset=2**63 - 1,
        physical_offset=2**63 - 1,
        born_at_ms=-(2**63),
        stored_at_ms=2**63 - 1,
        reconsume_times=2**31 - 1,
        prepared_transaction_offset=-1,
    )
    yield record_vector("numbers at the ends of their ranges", extremes, "NegativeFlag")


def _bits() -> Iterator[Vector]:
    for bit in range(32):
        number = (1 << bit) - (1 << 32 if bit == 31 else 0)
        record = replace(
            BASE,
            system_flags=number,
            born_host=V6 if bit == 4 else BASE.born_host,
            store_host=V6 if bit == 5 else BASE.store_host,
        )
        yield record_vector(f"bit {bit} of the system flags", record, "SystemFlag")
    for kind, name in COMPRESSIONS.items():
        flags = int(SystemFlag.COMPRESSED) | kind << 8
        record = replace(BASE, system_flags=flags, body=b"not looked into")
        yield record_vector(f"compressed: {name}", record, "Compressed")


def _recorded(recorded: Mapping[str, bytes]) -> Iterator[Vector]:
    for name, data in recorded.items():
        stem = name.rpartition("/")[2]
        special = [flag for start, flag in _OF_EDGE.items() if stem.startswith(start)]
        yield _read_vector(name, data, "Recorded", *special[:1])


def _refused() -> Iterator[Vector]:
    whole = encode_record(BASE)
    for comment, flag, data in (
        ("the size is one too many", "BadSize", whole[:3] + b"\x7d" + whole[4:] + b"!"),
        ("the size is negative", "BadSize", b"\xff" * 4 + whole[4:]),
        ("the size is below the smallest", "BadSize", b"\0\0\0\x5a" + whole[4:]),
        ("the magic is another", "BadMagic", whole[:4] + b"\0" + whole[5:]),
        (
            "the magic is a blank's",
            "BadMagic",
            whole[:4] + b"\xcb\xd4\x31\x94" + whole[8:],
        ),
        ("the body is another", "Checksum", whole[:88] + b"J" + whole[89:]),
        ("the last byte is missing", "Truncated", whole[:-1]),
        ("only a size word", "Truncated", whole[:4]),
        ("nothing", "Truncated", b""),
        (
            "the body's size is negative",
            "BadSize",
            whole[:84] + b"\xff" * 4 + whole[88:],
        ),
        (
            "the body reaches past the record",
            "BadSize",
            whole[:84] + b"\x7f" + whole[85:],
        ),
        (
            "the topic's size is negative",
            "TopicSize",
            whole[:93] + b"\xff" + whole[94:],
        ),
        (
            "the properties' size is negative",
            "PropertiesSize",
            whole[:103] + b"\xff" + whole[104:],
        ),
    ):
        yield Vector(
            comment=comment,
            members={"bytes": data},
            result=Result.INVALID,
            flags=(flag,),
        )


def _blanks() -> Iterator[Vector]:
    for size in (8, 100, 2**30):
        data = encode_blank(Blank(size))
        members = {"bytes": data, "values": {"size": size}}
        yield Vector(comment=f"{size} bytes are left", members=members)
    data = encode_blank(Blank(100))
    for comment, wrong in (
        ("the size is below 8", b"\0\0\0\7" + data[4:]),
        ("the magic is a record's", data[:4] + b"\xda\xa3\x20\xa7"),
    ):
        yield Vector(comment=comment, members={"bytes": wrong}, result=Result.INVALID)
