"""
A message record is one message as the commit log keeps it.

The broker writes it once, when it accepts the message, and sends the same bytes to
consumers: a pull response is a sequence of records. Consume queues and index files only
point at records, so they can be rebuilt from them.

A record's size depends on the body, the topic, the properties, and the widths of its
two hosts (IPv4 or IPv6). The width of the topic's length follows from the magic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

import msgspec
from construct import (
    Bytes,
    GreedyBytes,
    IfThenElse,
    Int8sb,
    Int16sb,
    Int32sb,
    Int32ub,
    Int64sb,
    Prefixed,
    Struct,
    this,
)
from msgspec.structs import astuple

from spec.clause import Clause, Level
from spec.derive.struct_codec import compile_codec
from spec.host import Host
from spec.integers import body_crc
from spec.layout import LayoutError, field, read_sequence

MAGIC_V1 = 0xDAA320A7
"""Marks a record whose topic length is one byte."""
MAGIC_V2 = 0xDAA320AB
"""Marks a record whose topic length is two bytes (since 5.0)."""

_APPEND = "4.6.0 org.apache.rocketmq.store.CommitLog$DefaultAppendMessageCallback"

_SEND = "4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"


class SystemFlag(IntFlag):
    """Bits of a message's system flags (Java: sysFlag); others may be set too."""

    COMPRESSED = 1 << 0
    """The body is compressed; from 5.0 on bits 8 to 10 are the compression type."""
    MULTI_TAGS = 1 << 1
    TRANSACTION_PREPARED = 1 << 2
    """A half message."""
    TRANSACTION_COMMIT = 1 << 3
    TRANSACTION_ROLLBACK = 1 << 2 | 1 << 3
    BORN_HOST_V6 = 1 << 4
    """The born host is an IPv6 address, 16 bytes."""
    STORE_HOST_V6 = 1 << 5
    """The store host is an IPv6 address, 16 bytes."""


# Members of an enumeration are slow to look up.
_BORN_HOST_V6 = int(SystemFlag.BORN_HOST_V6)
_STORE_HOST_V6 = int(SystemFlag.STORE_HOST_V6)

RECORD_BEGINS_WITH_SIZE = Clause(
    id="STORE-RECORD-001",
    level=Level.MUST,
    text="A record begins with its own size in bytes, this field included.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#calMsgLength",
)
RECORD_MAGIC = Clause(
    id="STORE-RECORD-002",
    level=Level.MUST,
    text=(
        "Bytes 4 to 8 of a record whose topic has at most 127 characters are "
        "MESSAGE_MAGIC_CODE, 0xDAA320A7."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#MESSAGE_MAGIC_CODE",
)
RECORD_MAGIC_V2 = Clause(
    id="STORE-RECORD-003",
    level=Level.MUST,
    text=(
        "From 5.1 on, a record with MESSAGE_MAGIC_CODE_V2, 0xDAA320AB, has a "
        "two-byte topic length."
    ),
    source="5.3.3 org.apache.rocketmq.common.message.MessageVersion#MESSAGE_VERSION_V2",
    since="5.1",
    issues=("apache/rocketmq#1110", "apache/rocketmq#5568"),
)
RECORD_MAGIC_IS_UNKNOWN = Clause(
    id="REC-SCAN-012",
    level=Level.QUIRK,
    text=(
        "Up to 5.0, a broker that opens the store of a later release ends the commit "
        "log at a record with MESSAGE_MAGIC_CODE_V2 (0xDAA320AB): later records are "
        "lost."
    ),
    source="5.0.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize",
    until="5.0",
)
RECORD_CRC = Clause(
    id="STORE-RECORD-004",
    level=Level.MUST,
    text="A record carries the checksum of its body as the broker received it.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
RECORD_QUEUE_OFFSET = Clause(
    id="STORE-RECORD-005",
    level=Level.MUST,
    text="The queue offset counts the messages of one queue from 0, without gaps.",
    source=f"{_APPEND}#doAppend",
    issues=("apache/rocketmq#7689",),
)
RECORD_PHYSICAL_OFFSET = Clause(
    id="STORE-RECORD-006",
    level=Level.MUST,
    text="The physical offset is the record's own place in the commit log.",
    source=f"{_APPEND}#doAppend",
    issues=(
        "apache/rocketmq#10017",
        "apache/rocketmq#10038",
    ),
)
RECORD_HOSTS = Clause(
    id="STORE-RECORD-007",
    level=Level.MUST,
    text=(
        "From 4.6 on, a host is 4 address bytes and a 4-byte port, or 16 and a port "
        "if its flag is set."
    ),
    source="4.6.0 org.apache.rocketmq.common.sysflag.MessageSysFlag#BORNHOST_V6_FLAG",
    since="4.6",
    issues=(
        "apache/rocketmq#5230",
        "apache/rocketmq#8043",
        "NewLifeX/NewLife.RocketMQ#115",
        "apache/rocketmq-client-cpp#351",
    ),
)
RECORD_TOPIC_SIZE = Clause(
    id="STORE-RECORD-008",
    level=Level.MUST,
    text=(
        "In a record with MESSAGE_MAGIC_CODE (0xDAA320A7) the topic follows a signed "
        "byte with its length, so it has at most 127 bytes."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize",
    issues=("apache/rocketmq#1110",),
    hints=(("255", "is the length byte unsigned?"),),
)
RECORD_PROPERTIES_SIZE = Clause(
    id="STORE-RECORD-009",
    level=Level.MUST,
    text=(
        "The properties follow a signed 2-byte length, so they have at most 32767 "
        "bytes."
    ),
    source=f"{_APPEND}#doAppend",
    hints=(("65536", "is the length unsigned?"),),
)
RECORD_BODY_SIZE = Clause(
    id="STORE-RECORD-010",
    level=Level.MUST,
    text="The body follows a 4-byte length, which is 0 for no body.",
    source=f"{_APPEND}#doAppend",
)
RECORD_FLAG = Clause(
    id="STORE-RECORD-011",
    level=Level.MUST,
    text="The producer's flag is stored and handed out unchanged.",
    source=f"{_APPEND}#doAppend",
)
RECORD_BORN = Clause(
    id="STORE-RECORD-012",
    level=Level.MUST,
    text=(
        "The born time is the producer's and the born host the remote address of its "
        "connection."
    ),
    source=f"{_SEND}#sendMessage",
)
RECORD_STORE_HOST = Clause(
    id="STORE-RECORD-013",
    level=Level.MUST,
    text="The store host is the address and port that the broker registers.",
    source="4.6.0 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor"
    "#getStoreHost",
)
RECORD_UNKNOWN_FLAGS = Clause(
    id="STORE-RECORD-014",
    level=Level.MUST,
    text="System flags that the broker does not define are stored unchanged.",
    source=f"{_SEND}#sendMessage",
)
RECORD_BODY_UNTOUCHED = Clause(
    id="STORE-RECORD-015",
    level=Level.MUST,
    text=(
        "A compressed body is stored as sent, with COMPRESSED_FLAG (1) in its system "
        "flags."
    ),
    source=f"{_APPEND}#doAppend",
)
RECORD_HANDED_OUT = Clause(
    id="STORE-RECORD-016",
    level=Level.MUST,
    text=(
        "A consumer receives the same bytes as the commit log holds, records one "
        "after the other."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage",
)
RECORD_HOSTS_V4 = Clause(
    id="STORE-RECORD-017",
    level=Level.MUST,
    text=(
        "Up to 4.5, a host is 4 address bytes and 4 bytes of port, regardless of the "
        "system flags."
    ),
    source="4.4.0 org.apache.rocketmq.store.CommitLog#calMsgLength",
    until="4.5",
)
RECORD_HALF_OFFSET = Clause(
    id="STORE-RECORD-018",
    level=Level.MUST,
    text=(
        "The prepared transaction offset is 0 except in the message that a commit "
        "makes of a half message."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.EndTransactionProcessor"
    "#processRequest",
)


def _host(flag: SystemFlag) -> Struct:
    is_v6 = this._.system_flags & int(flag)
    return Struct(
        field("address", IfThenElse(is_v6, Bytes(16), Bytes(4)), "IPv4 or IPv6"),
        field("port", Int32sb, "0 to 65535"),
    )


def _topic_size(version: Any) -> IfThenElse[Any, Any]:
    return IfThenElse(version == MAGIC_V2, Int16sb, Int8sb)


record_layout = Struct(
    field("size", Int32sb, "bytes of this record, this field included"),
    field("magic", Int32ub, "0xDAA320A7, or 0xDAA320AB for a two-byte topic length"),
    field("body_crc", Int32sb, "CRC-32 of body, sign bit cleared (Java: bodyCRC)"),
    field("queue_id", Int32sb, "which queue of the topic"),
    field("flag", Int32sb, "the producer's own; the broker never reads it"),
    field("queue_offset", Int64sb, "index of the message in its queue"),
    field("physical_offset", Int64sb, "where this record begins in the commit log"),
    field("system_flags", Int32sb, "bits of SystemFlag (Java: sysFlag)"),
    field("born_at_ms", Int64sb, "when the producer made it (Java: bornTimestamp)"),
    field("born_host", _host(SystemFlag.BORN_HOST_V6), "the producer's address"),
    field("stored_at_ms", Int64sb, "when the broker took it (Java: storeTimestamp)"),
    field("store_host", _host(SystemFlag.STORE_HOST_V6), "the broker's address"),
    field("reconsume_times", Int32sb, "how often a consumer sent it back"),
    field(
        "prepared_transaction_offset",
        Int64sb,
        "physical offset of the half message that this one commits or rolls back",
    ),
    field("body", Prefixed(Int32sb, GreedyBytes), "the payload, after its size"),
    field("topic", Prefixed(_topic_size(this.magic), GreedyBytes), "the topic's name"),
    field(
        "properties", Prefixed(Int16sb, GreedyBytes), "see spec.wire.message.properties"
    ),
)

record_codec = compile_codec(
    record_layout,
    compiled_for=[
        (MAGIC_V1, 0),
        (MAGIC_V1, int(SystemFlag.BORN_HOST_V6 | SystemFlag.STORE_HOST_V6)),
    ],
)


class RecordFields(msgspec.Struct, frozen=True):
    """The values of a record's fields, in the order of `record_layout`."""

    size: int
    magic: int
    body_crc: int
    queue_id: int
    flag: int
    queue_offset: int
    physical_offset: int
    system_flags: int
    born_at_ms: int
    born_host_address: bytes
    born_host_port: int
    stored_at_ms: int
    store_host_address: bytes
    store_host_port: int
    reconsume_times: int
    prepared_transaction_offset: int
    body: bytes
    topic: bytes
    properties: bytes


assert RecordFields.__struct_fields__ == tuple(
    name.replace(".", "_") for name in record_codec.names
)

SMALLEST_SIZE = 91
"""Bytes of a record with IPv4 hosts and no body, topic or properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A message as stored. Sizes and the checksum are derived when it is encoded."""

    topic: str
    queue_id: int
    queue_offset: int
    """Index in the queue, counted in messages."""
    physical_offset: int
    """Offset in the commit log, in bytes."""
    body: bytes = b""
    properties: str = ""
    """As stored; :func:`spec.wire.message.properties.decode_properties` reads it."""
    flag: int = 0
    system_flags: int = 0
    born_at_ms: int = 0
    born_host: Host = Host.ANY_V4
    stored_at_ms: int = 0
    store_host: Host = Host.ANY_V4
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0
    magic: int = MAGIC_V1


class BadChecksumError(LayoutError):
    """The body is not the one that the record's checksum was made of."""


def record_size(record: Record) -> int:
    """Return the size in bytes of *record* in the commit log."""
    text_size = len(_encoded(record.topic)) + len(_encoded(record.properties))
    return _fixed_size(record) + len(record.body) + text_size


def _fixed_size(record: Record) -> int:
    """Return the size in bytes of *record* without body, topic and properties."""
    return (
        SMALLEST_SIZE
        + (12 if record.system_flags & _BORN_HOST_V6 else 0)
        + (12 if record.system_flags & _STORE_HOST_V6 else 0)
        + (1 if record.magic == MAGIC_V2 else 0)
    )


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def encode_record(record: Record) -> bytes:
    """Return the bytes of *record*."""
    body, topic = record.body, _encoded(record.topic)
    properties = _encoded(record.properties)
    fields = RecordFields(
        size=_fixed_size(record) + len(body) + len(topic) + len(properties),
        magic=record.magic,
        body_crc=body_crc(body),
        queue_id=record.queue_id,
        flag=record.flag,
        queue_offset=record.queue_offset,
        physical_offset=record.physical_offset,
        system_flags=record.system_flags,
        born_at_ms=record.born_at_ms,
        born_host_address=record.born_host.address,
        born_host_port=record.born_host.port,
        stored_at_ms=record.stored_at_ms,
        store_host_address=record.store_host.address,
        store_host_port=record.store_host.port,
        reconsume_times=record.reconsume_times,
        prepared_transaction_offset=record.prepared_transaction_offset,
        body=body,
        topic=topic,
        properties=properties,
    )
    return record_codec.encode(astuple(fields))


def decode_record(data: bytes | memoryview, *, check_crc: bool = True) -> Record:
    """Return the record that begins *data*; ignore later bytes.

    Raises LayoutError if the bytes are not a record, and BadChecksumError if
    only the body is wrong and *check_crc* is true.
    """
    size = size_of_record(data)
    fields, end = record_fields(data[:size])
    if end != size:
        reason = f"{size} bytes, but the fields take {end}"
        raise LayoutError(reason, field="size", offset=0)
    computed_crc = body_crc(fields.body) if check_crc else fields.body_crc
    if fields.body_crc != computed_crc:
        reason = f"{fields.body_crc:#010x} stored, {computed_crc:#010x} computed"
        raise BadChecksumError(reason, field="body_crc", offset=8)
    return record_of(fields)


def record_fields(
    data: bytes | memoryview, offset: int = 0
) -> tuple[RecordFields, int]:
    """Return the fields of the record at *offset*, and the offset behind them.

    Raises LayoutError if the bytes are not fields of a record; compares no values.
    """
    values, end = record_codec.decode_from(data, offset)
    return RecordFields(*values), end


def record_of(fields: RecordFields) -> Record:
    """Return the record with *fields*; check nothing."""
    return Record(
        topic=fields.topic.decode("utf-8", "surrogateescape"),
        queue_id=fields.queue_id,
        queue_offset=fields.queue_offset,
        physical_offset=fields.physical_offset,
        body=fields.body,
        properties=fields.properties.decode("utf-8", "surrogateescape"),
        flag=fields.flag,
        system_flags=fields.system_flags,
        born_at_ms=fields.born_at_ms,
        born_host=Host(fields.born_host_address, fields.born_host_port),
        stored_at_ms=fields.stored_at_ms,
        store_host=Host(fields.store_host_address, fields.store_host_port),
        reconsume_times=fields.reconsume_times,
        prepared_transaction_offset=fields.prepared_transaction_offset,
        magic=fields.magic,
    )


def size_of_record(data: bytes | memoryview) -> int:
    """Return the bytes of the record that begins *data*.

    Raises LayoutError for another magic, and for a size that does not fit into *data*.
    """
    if len(data) < SMALLEST_SIZE:
        reason = f"{len(data)} bytes left, a record has at least {SMALLEST_SIZE}"
        raise LayoutError(reason, field="size", offset=0)
    size = int.from_bytes(data[:4], "big", signed=True)
    if not SMALLEST_SIZE <= size <= len(data):
        reason = f"{size} is not between {SMALLEST_SIZE} and the {len(data)} bytes left"
        raise LayoutError(reason, field="size", offset=0)
    magic = int.from_bytes(data[4:8], "big")
    if magic not in (MAGIC_V1, MAGIC_V2):
        reason = f"{magic:#010x} is not a message's magic"
        raise LayoutError(reason, field="magic", offset=4)
    return size


def decode_records(data: bytes | memoryview) -> Iterator[Record]:
    """Yield the records of *data*, the body of a pull response.

    Raises LayoutError with the offset in *data*.
    """
    return read_sequence(data, size_of_record, decode_record)
