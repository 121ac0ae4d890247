"""
Vectors of ids, properties and hashes: what is text on one side.
"""

from __future__ import annotations

from collections.abc import Iterator

from spec.host import Host
from spec.integers import (
    CRC_IS_POSITIVE,
    TAG_HASH_IS_JAVA_STRING_HASH,
    body_crc,
    java_string_hash,
)
from spec.store.index_file import INDEX_KEY, INDEX_KEY_HASH, key_hash
from spec.vectors.form import Flag, Group, Result, Vector, VectorFile, values_of
from spec.vectors.records import BODY_OF_CRC_0, V4, V6
from spec.wire.message.message_id import (
    MESSAGE_ID_CASE,
    MESSAGE_ID_FORM,
    MESSAGE_ID_FORM_V6,
    encode_message_id,
)
from spec.wire.message.properties import (
    PROPERTIES_BROKEN_PAIR,
    PROPERTIES_END,
    PROPERTIES_FORM,
    PROPERTIES_LAST_COUNTS,
    PROPERTIES_SECOND_SEPARATOR_DROPS,
    PROPERTIES_SECOND_SEPARATOR_STAYS,
    decode_properties,
)
from spec.wire.message.unique_key import (
    UNIQUE_KEY_FORM,
    UNIQUE_KEY_FORM_V6,
    decode_unique_key,
)

ID_FLAGS = {
    "Ipv4": Flag(
        meaning="32 upper-case hex digits.", clauses=(MESSAGE_ID_FORM, UNIQUE_KEY_FORM)
    ),
    "Ipv6": Flag(
        meaning="56 of them.", clauses=(MESSAGE_ID_FORM_V6, UNIQUE_KEY_FORM_V6)
    ),
    "LowerCase": Flag(meaning="Read, but not written so.", clauses=(MESSAGE_ID_CASE,)),
    "BadText": Flag(meaning="No hex, or not as many digits as an id has."),
    "BadPort": Flag(meaning="A port that no host has."),
}
PROPERTY_FLAGS = {
    "Final": Flag(
        meaning="With the separator after the last pair.", clauses=(PROPERTIES_FORM,)
    ),
    "NoFinal": Flag(
        meaning="Without it: read, and written by some.", clauses=(PROPERTIES_END,)
    ),
    "BrokenPair": Flag(
        meaning="A pair that is none is passed over.", clauses=(PROPERTIES_BROKEN_PAIR,)
    ),
    "Duplicate": Flag(
        meaning="Of equal names the last one with a value counts.",
        clauses=(PROPERTIES_LAST_COUNTS,),
    ),
    "SecondSeparator": Flag(
        meaning="Byte 1 in a value: up to 4.9.0 the pair is dropped, later it is kept."
        " The values are those of 4.6.0.",
        clauses=(PROPERTIES_SECOND_SEPARATOR_DROPS, PROPERTIES_SECOND_SEPARATOR_STAYS),
    ),
    "Unicode": Flag(meaning="Names and values are UTF-8."),
}
HASH_FLAGS = {
    "TagsCode": Flag(
        meaning="Java's String.hashCode, over UTF-16 code units.",
        clauses=(TAG_HASH_IS_JAVA_STRING_HASH,),
    ),
    "KeyHash": Flag(
        meaning="The absolute value of the hash of topic#key, and 0 for -2147483648.",
        clauses=(INDEX_KEY, INDEX_KEY_HASH),
    ),
    "Collision": Flag(meaning="Another test has the same hash."),
    "Smallest": Flag(meaning="The hash is -2147483648, which has no absolute value."),
    "Surrogates": Flag(
        meaning="A character outside the basic plane is two code units."
    ),
    "Checksum": Flag(
        meaning="CRC-32 with the sign bit cleared.", clauses=(CRC_IS_POSITIVE,)
    ),
}
SMALLEST_KEY = ("T", "ajvakuzm")
"""A topic and a key whose hash is -2147483648."""


def id_file() -> VectorFile:
    """Return the vectors of message ids and unique keys."""
    return VectorFile(
        algorithm="message id and unique key",
        meaning="The id that a broker gives (offsetMsgId), and a producer's.",
        flags=ID_FLAGS,
        groups=(
            Group(type="message_id", tests=tuple(_message_ids())),
            Group(type="unique_key", tests=tuple(_unique_keys())),
        ),
    )


def property_file() -> VectorFile:
    """Return the vectors of properties."""
    return VectorFile(
        algorithm="properties",
        meaning="Names and values in one string.",
        flags=PROPERTY_FLAGS,
        groups=(Group(type="properties", tests=tuple(_properties())),),
    )


def hash_file() -> VectorFile:
    """Return the vectors of tags codes, key hashes and checksums."""
    return VectorFile(
        algorithm="hashes and checksums",
        meaning="What is computed from a tag, a key and a body.",
        flags=HASH_FLAGS,
        groups=(
            Group(type="tags_code", tests=tuple(_tags_codes())),
            Group(type="key_hash", tests=tuple(_key_hashes())),
            Group(type="body_crc", tests=tuple(_checksums())),
        ),
    )


def _message_ids() -> Iterator[Vector]:
    highest = Host.of("255.255.255.255", 65_535)
    for host, offset in ((V4, 2**32), (V4, 0), (V6, 2**32), (highest, 2**63 - 1)):
        text = encode_message_id(host, offset)
        yield _message_id(f"{host} and {offset}", text, host, offset)
    lower = encode_message_id(V4, 2**32).lower()
    yield _message_id("lower case", lower, V4, 2**32, "LowerCase")
    for comment, text, flag in (
        ("nothing", "", "BadText"),
        ("one byte", "7F", "BadText"),
        ("an odd number of digits", "7" * 31, "BadText"),
        ("no hex digits", "Z" * 32, "BadText"),
        ("digits of another script", "٣" * 32, "BadText"),
        ("a negative port", "7F000001FFFFFFFF0000000000000000", "BadPort"),
    ):
        yield Vector(
            comment=comment,
            members={"text": text},
            result=Result.INVALID,
            flags=(flag,),
        )


def _message_id(
    comment: str, text: str, host: Host, offset: int, *flags: str
) -> Vector:
    values = {"host": str(host), "commit_log_offset": str(offset)}
    width = "Ipv6" if host.is_v6 else "Ipv4"
    return Vector(
        comment=comment,
        members={"text": text, "values": values},
        flags=(width, *flags),
    )


def _unique_keys() -> Iterator[Vector]:
    for comment, text, flag in (
        ("of a host with an IPv4 address", "7F0000013D0C18B4AAC25D2A3F5E0003", "Ipv4"),
        ("the last of a counter", "C000020200004E0E2F2A69AE36E2FFFF", "Ipv4"),
        (
            "of a host with an IPv6 address",
            "20010DB8000000000000000000000001000018B4AAC25D2A3F5EFFFF",
            "Ipv6",
        ),
    ):
        values = values_of(decode_unique_key(text))
        yield Vector(
            comment=comment, members={"text": text, "values": values}, flags=(flag,)
        )
    yield Vector(
        comment="too short",
        members={"text": "7F000001"},
        result=Result.INVALID,
        flags=("BadText",),
    )


def _properties() -> Iterator[Vector]:
    for comment, text, flag in (
        ("two, with a final separator", "KEYS\x01a b\x02TAGS\x01t\x02", "Final"),
        ("two, without one", "KEYS\x01a b\x02TAGS\x01t", "NoFinal"),
        ("in another order", "TAGS\x01t\x02KEYS\x01a b\x02", "Final"),
        ("none", "", "Final"),
        ("characters of every width", "KEYS\x01中 😀\x02é\x01ß\x02", "Unicode"),
        ("a pair without a separator", "x\x02TAGS\x01t\x02", "BrokenPair"),
        ("a pair without a value", "x\x01\x02TAGS\x01t\x02", "BrokenPair"),
        ("an empty pair", "\x02TAGS\x01t\x02", "BrokenPair"),
        ("two of one name", "TAGS\x01a\x02x\x01y\x02TAGS\x01b\x02", "Duplicate"),
        ("two of one name, the last empty", "TAGS\x01a\x02TAGS\x01\x02", "Duplicate"),
        (
            "a value with byte 1 in it",
            "x\x01a\x01b\x02TAGS\x01t\x02",
            "SecondSeparator",
        ),
    ):
        is_odd = flag == "SecondSeparator"
        yield Vector(
            comment=comment,
            members={"text": text, "values": decode_properties(text)},
            result=Result.ACCEPTABLE if is_odd else Result.VALID,
            flags=(flag,),
        )


def _tags_codes() -> Iterator[Vector]:
    for text, flags in (
        ("", ()),
        ("a", ()),
        ("TagA", ()),
        ("Grüße", ()),
        ("中文", ()),
        ("Aa", ("Collision",)),
        ("BB", ("Collision",)),
        ("\U0001f600", ("Surrogates",)),
        ("polygenelubricants", ("Smallest",)),
    ):
        yield Vector(
            comment=f"tag {text!r}",
            members={"text": text, "hash": java_string_hash(text)},
            flags=("TagsCode", *flags),
        )


def _key_hashes() -> Iterator[Vector]:
    for topic, key, flags in (
        ("T", "k", ()),
        ("TopicTest", "a b", ()),
        ("TopicTest", "中文", ()),
        ("TopicTest", "Aa", ("Collision",)),
        ("TopicTest", "BB", ("Collision",)),
        (*SMALLEST_KEY, ("Smallest",)),
    ):
        members = {"topic": topic, "key": key, "hash": key_hash(topic, key)}
        yield Vector(
            comment=f"key {key!r} of {topic}",
            members=members,
            flags=("KeyHash", *flags),
        )


def _checksums() -> Iterator[Vector]:
    for body in (b"", b"hello", b"123456789", bytes(256), BODY_OF_CRC_0):
        yield Vector(
            comment=f"{len(body)} bytes",
            members={"bytes": body, "crc": body_crc(body)},
            flags=("Checksum",),
        )
