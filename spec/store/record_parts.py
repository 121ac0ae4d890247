"""
The parts of a record in numbers, for who reads one without our layout.

``message_record`` has the layout. Where both hosts are IPv4 every part up to the body
has a fixed place; the parts after it are found from the counts.
"""

from __future__ import annotations

from types import MappingProxyType

from spec.clause import Clause, Level

_SIZE = "4.6.0 org.apache.rocketmq.store.CommitLog#calMsgLength"

PART_OFFSETS = MappingProxyType(
    {
        "size": (0, 4),
        "magic": (4, 4),
        "body_crc": (8, 4),
        "queue_id": (12, 4),
        "flag": (16, 4),
        "queue_offset": (20, 8),
        "physical_offset": (28, 8),
        "system_flags": (36, 4),
        "born_at_ms": (40, 8),
        "born_address": (48, 4),
        "born_port": (52, 4),
        "stored_at_ms": (56, 8),
        "store_address": (64, 4),
        "store_port": (68, 4),
        "reconsume_times": (72, 4),
        "prepared_transaction_offset": (76, 8),
        "body_size": (84, 4),
    }
)
"""First byte and size of each part, of a record with IPv4 hosts."""
EMPTY_SIZE = 91
"""Bytes of a record with IPv4 hosts, without body, topic and properties."""

PLACES = Clause(
    id="STORE-RECORD-019",
    level=Level.MUST,
    text=(
        "With IPv4 hosts a record begins with size at byte 0, magic 4, checksum 8, "
        "queue id 12, flag 16, queue offset 20, physical offset 28 and system flags "
        "36. Further parts are born time at 40, born host 48, store time 56, store "
        "host 64, reconsume times 72, prepared transaction offset 76, body size 84 "
        "and body 88."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog$DefaultAppendMessageCallback"
    "#doAppend",
    hints=(
        (
            "the queue offset in bytes",
            "was the place in the consume queue's file written? It is a number of"
            " messages",
        ),
    ),
)
SIZE = Clause(
    id="STORE-RECORD-020",
    level=Level.MUST,
    text="A record with MESSAGE_MAGIC_CODE (0xDAA320A7) has 91 bytes besides body,"
    " topic and properties, and 12 more for each host that is IPv6.",
    source=_SIZE,
)
