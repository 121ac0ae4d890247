"""
The messages that the store suite sends before it reads the store: a few hundred.

They differ in everything that a record carries: flags, times, queues, and sizes around
the boundaries of its counts. Tags and keys have unusual hashes; some messages have
several keys. Half messages, rollbacks and delayed messages have no place in a queue or
index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from conformance.harness.targets.target import Target
from spec.integers import INT32_MAX, INT32_MIN, java_string_hash
from spec.store.message_record import SystemFlag
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.unique_key import UniqueKey, encode_unique_key

TAGS = ("TagA", "polygenelubricants", "标签", "a b", "x" * 300, "Aa", "BB")
"""The second has the smallest hash there is; the last two have the same one."""
BODY_SIZES = (1, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 4095, 4096, 9000)
FLAGS = (0, 1, -1, INT32_MAX, INT32_MIN, 0x01020304)
UNKNOWN_SYSTEM_FLAG = 1 << 13
BORN_TIMES_MS = (1_600_000_000_000, 0, 1, 2**53, 1_577_836_800_000)
QUEUES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message to be sent."""

    topic: str
    queue_id: int = 0
    body: bytes = b"hello"
    properties: dict[str, str] = field(default_factory=dict)
    flag: int = 0
    system_flags: int = 0
    born_at_ms: int = BORN_TIMES_MS[0]
    reconsume_times: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that was sent, with fields of its response."""

    message: Outgoing
    from_address: Address
    """Our end of the connection."""
    message_id: str
    """The response's msgId: the store host and the record's offset."""
    queue_id: int
    queue_offset: int

    @property
    def commit_log_offset(self) -> int:
        """The record's commit-log offset, from the message id in the response."""
        return decode_message_id(self.message_id)[1]


def send(client: Client, message: Outgoing) -> Sent:
    """Send *message* and return it with its response."""
    response = require_success(
        client.send_message(
            topic=message.topic,
            body=message.body,
            queue_id=message.queue_id,
            properties=message.properties or None,
            flag=message.flag,
            system_flags=message.system_flags,
            born_at_ms=message.born_at_ms,
            reconsume_times=message.reconsume_times,
        )
    )
    return Sent(
        message=message,
        from_address=client.peer.local_address,
        message_id=response.fields["msgId"],
        queue_id=int(response.fields["queueId"]),
        queue_offset=int(response.fields["queueOffset"]),
    )


def send_all(target: Target, messages: list[Outgoing]) -> list[Sent]:
    """Send *messages* over one connection."""
    with target.connect_to_broker() as client:
        return [send(client, message) for message in messages]


def planned_messages(topics: tuple[str, str], count: int = 240) -> list[Outgoing]:
    """Return *count* messages to the queues of two topics."""
    return [_planned(number, topics) for number in range(count)]


def unqueued_messages(topic: str) -> list[Outgoing]:
    """Return messages whose flags keep them out of every consume queue."""
    keys = {"KEYS": "unqueued"}
    flags = (SystemFlag.TRANSACTION_PREPARED, SystemFlag.TRANSACTION_ROLLBACK)
    return [Outgoing(topic=topic, properties=keys, system_flags=int(f)) for f in flags]


def delayed_message(topic: str, *, level: int) -> Outgoing:
    """Return a message that is kept: one second at level 1, two hours at 18."""
    return Outgoing(
        topic=topic, queue_id=3, properties={"DELAY": str(level), "TAGS": "TagA"}
    )


def half_message(topic: str, group: str) -> Outgoing:
    """Return the first half of a transaction."""
    return Outgoing(
        topic=topic,
        properties={"TRAN_MSG": "true", "PGROUP": group, "KEYS": "half"},
        system_flags=int(SystemFlag.TRANSACTION_PREPARED),
    )


def _planned(number: int, topics: tuple[str, str]) -> Outgoing:
    topic = topics[number % 3 == 2]
    message = Outgoing(
        topic=topic,
        # Most go to queue 0, whose consume queue then has several files.
        queue_id=0 if number % 2 else number // 2 % QUEUES,
        body=_body(number),
        properties=dict(_properties(number, topic)),
        flag=FLAGS[number % len(FLAGS)],
        born_at_ms=BORN_TIMES_MS[number % len(BORN_TIMES_MS)],
        reconsume_times=number % 4,
    )
    if number % 10 == 3:
        return replace(message, system_flags=UNKNOWN_SYSTEM_FLAG)
    if number % 10 == 7:
        return replace(message, system_flags=int(SystemFlag.COMPRESSED))
    return message


def _body(number: int) -> bytes:
    size = BODY_SIZES[number % len(BODY_SIZES)]
    return bytes((number + i) % 256 for i in range(size))


def _properties(number: int, topic: str) -> Iterator[tuple[str, str]]:
    if number % 4:
        yield "TAGS", TAGS[number % len(TAGS)]
    if number % 5:
        keys = (
            f"key{number}",
            f"key{number} other{number % 7}",
            f"  wide   key{number % 9}  ",
            f"twice{number} twice{number}",
            f"ключ{number} 键",
            key_with_hash(f"{topic}#", INT32_MIN),
        )
        yield "KEYS", keys[number % len(keys)]
    if number % 3:
        yield "UNIQ_KEY", unique_key(number)
    yield f"own{number % 5}", f"値 {number} = a/b"


def unique_key(number: int) -> str:
    """Return a unique key as a client makes it, different for every *number*."""
    return encode_unique_key(
        UniqueKey(
            address=bytes((127, 0, 0, 1)),
            process_id=4711,
            class_loader_hash=0x14AE5A5,
            since_month_ms=number * 1000,
            counter=number,
        )
    )


def key_with_hash(prefix: str, key_hash: int) -> str:
    """Return a seven-character key that has the hash *key_hash* after *prefix*.

    Java's hash is a number in base 31, so the key is what is missing, digit by digit.
    """
    zeros = java_string_hash(prefix + "0" * 7)
    missing = (key_hash - zeros) % 2**32
    digits = []
    for _ in range(7):
        missing, digit = divmod(missing, 31)
        digits.append(chr(ord("0") + digit))
    return "".join(reversed(digits))
