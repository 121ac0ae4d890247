"""The request that carries a message, and the key that a message gets."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime

import pytest

from reference.core.client.message import Message, MessageQueue
from reference.core.client.producer.send_request import (
    UniqueIdGenerator,
    prepare_batch,
    prepare_message,
    send_command,
)
from spec.wire.message.properties import decode_properties
from spec.wire.message.unique_key import decode_unique_key
from spec.wire.remoting.command import Command
from spec.wire.send.batch_body import decode_batch

QUEUE = MessageQueue("T", "a", 3)
NOON_MS = int(datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp() * 1000)


def command_of(message: Message, **options: bool) -> Command:
    sent = prepare_message(message, "KEY")
    return send_command(sent, QUEUE, group="g", now_ms=5, **options)


def test_the_header_has_letters_for_names() -> None:
    command = command_of(Message(topic="T", body=b"x", properties={"TAGS": "t"}))
    assert command.code == 310
    assert {**command.fields, "i": decode_properties(command.fields["i"])} == {
        "a": "g",
        "b": "T",
        "c": "TBW102",
        "d": "4",
        "e": "3",
        "f": "0",
        "g": "5",
        "h": "0",
        "i": {"UNIQ_KEY": "KEY", "TAGS": "t"},
        "j": "0",
        "k": "false",
        "m": "false",
    }


def test_a_key_that_is_there_stays() -> None:
    message = Message(topic="T", body=b"x", properties={"UNIQ_KEY": "mine"})
    assert prepare_message(message, "KEY").message_id == "mine"


@pytest.mark.parametrize(("size", "flags"), [(4095, "0"), (4096, "1")])
def test_a_body_is_compressed_from_4096_bytes(size: int, flags: str) -> None:
    command = command_of(Message(topic="T", body=bytes(size)))
    assert command.fields["f"] == flags
    body = zlib.decompress(command.body) if flags == "1" else command.body
    assert body == bytes(size)


def test_a_half_message_says_so_in_its_flags() -> None:
    message = Message(topic="T", body=b"x", properties={"TRAN_MSG": "true"})
    assert command_of(message).fields["f"] == "4"


def test_counts_of_a_retry_are_in_the_header_too() -> None:
    counts = {"RECONSUME_TIME": "2", "MAX_RECONSUME_TIMES": "16"}
    fields = command_of(Message(topic="%RETRY%g", body=b"x", properties=counts)).fields
    assert (fields["j"], fields["l"]) == ("2", "16")
    assert decode_properties(fields["i"]) == {"UNIQ_KEY": "KEY", **counts}
    other = command_of(Message(topic="T", body=b"x", properties=counts)).fields
    assert other["j"] == "0"
    assert "l" not in other


def test_a_oneway_send_has_the_bit() -> None:
    assert command_of(Message(topic="T", body=b"x"), oneway=True).is_oneway


def test_a_batch_has_a_key_for_each_message_and_is_not_compressed() -> None:
    messages = [Message(topic="T", body=bytes(5000), flag=n) for n in range(2)]
    batch = prepare_batch(messages, ["K0", "K1"])
    command = send_command(batch, QUEUE, group="g", now_ms=5)
    assert (command.code, command.fields["m"], command.fields["f"]) == (
        320,
        "true",
        "0",
    )
    found = list(decode_batch(command.body))
    keys = [decode_properties(one.properties)["UNIQ_KEY"] for one in found]
    assert keys == ["K0", "K1"]
    assert [one.flag for one in found] == [0, 1]
    assert batch.message_id == "K0,K1"


def test_a_key_says_who_and_when() -> None:
    maker = UniqueIdGenerator(
        address=bytes([10, 0, 0, 1]), process_id=0x12345, program_hash=-7
    )
    first, second = (decode_unique_key(maker.next_id(NOON_MS)) for _ in range(2))
    assert first.address == bytes([10, 0, 0, 1])
    assert (first.process_id, first.class_loader_hash) == (0x2345, -7)
    assert first.since_month_ms == 36 * 3600 * 1000
    assert (first.counter, second.counter) == (0, 1)


def test_a_month_begins_in_the_senders_zone() -> None:
    zone_ms = -13 * 3600 * 1000
    maker = UniqueIdGenerator(address=bytes(16), process_id=1, zone_offset_ms=zone_ms)
    key = maker.next_id(NOON_MS)
    assert len(key) == 56
    assert decode_unique_key(key).since_month_ms == 23 * 3600 * 1000


def test_keys_of_a_sender_differ_until_the_counter_is_round() -> None:
    maker = UniqueIdGenerator(address=bytes(4), process_id=1)
    keys = [maker.next_id(NOON_MS) for _ in range(2**16 + 1)]
    assert len(set(keys)) == 2**16
    assert keys[0] == keys[-1]
