"""Reading back what a broker stored, by id, and by pulling once the queue has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.harness.client.client import Client, body_of, now_ms, require_success
from conformance.harness.process.deadline import comes_true, wait_until
from spec.routing.topic_config import TopicConfig, decode_topic_table
from spec.store.message_record import Record, SystemFlag, decode_record, decode_records
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

GAP_MS = 12
"""More than two readings of a clock differ by on any system."""


def record_of(broker: Client, response: Command) -> Record:
    """Return the record of the message to whose send this is the *response*."""
    viewed = broker.view_stored(require_success(response).fields["msgId"])
    reason = "the send of this message succeeded"
    return decode_record(require_success(viewed, reason=reason).body)


def flags_of_sender(record: Record) -> int:
    """Return the flags of *record* without those about the form of its hosts."""
    return record.system_flags & ~(SystemFlag.BORN_HOST_V6 | SystemFlag.STORE_HOST_V6)


def mapping_of(response: Command) -> Mapping[Any, Any]:
    """Return the JSON object in the body of *response*."""
    found = body_of(response)
    assert isinstance(found, Mapping), f"the body is {found!r}"
    return found


def query_by_key(broker: Client, topic: str, key: str, **how: Any) -> Command:
    """Return the response to a query by *key*.

    A broker may refuse queries while its index is behind: they are sent again then.
    """
    responses = [broker.query_message(topic=topic, key=key, **how)]

    def is_served() -> bool:
        if responses[-1].code not in (
            ResponseCode.SUCCESS,
            ResponseCode.QUERY_NOT_FOUND,
        ):
            responses.append(broker.query_message(topic=topic, key=key, **how))
            return False
        return True

    comes_true(is_served)
    return responses[-1]


def offset_of(response: Command) -> int:
    """Return the commit-log offset of the message that was sent, in bytes."""
    _, offset = decode_message_id(require_success(response).fields["msgId"])
    return offset


def send_bodies(
    broker: Client, topic: str, bodies: Iterable[bytes], *, queue_id: int = 0
) -> list[Command]:
    """Send *bodies* to a fresh queue, wait until it has them, return the responses."""
    responses = [
        require_success(broker.send_message(topic=topic, body=body, queue_id=queue_id))
        for body in bodies
    ]
    broker.wait_for_max_offset(topic=topic, offset=len(responses), queue_id=queue_id)
    return responses


def send_apart(broker: Client, topic: str, count: int = 4) -> list[int]:
    """Send messages some milliseconds apart to queue 0; their store times."""
    times = [stored_apart(broker, topic) for _ in range(count)]
    broker.wait_for_max_offset(topic=topic, offset=count)
    return times


def stored_apart(broker: Client, topic: str, *, queue_id: int = 0) -> int:
    """Send a message some milliseconds after any other; return its store time.

    The broker's clock may show another time than this one.
    """
    began_ms = now_ms()
    wait_until(
        lambda: now_ms() >= began_ms + GAP_MS,
        what=f"{GAP_MS} ms have passed since the last message",
    )
    sent = broker.send_message(topic=topic, queue_id=queue_id)
    return record_of(broker, sent).stored_at_ms


def records_of(pulled: Command) -> list[Record]:
    """Return the records of a pull's response, which must have found some."""
    return list(decode_records(require_success(pulled).body))


def records_from(client: Client, offset: int) -> Iterator[Record]:
    """Yield the records of the commit log from the one at *offset* on."""
    while True:
        response = client.view_message(commit_log_offset=offset)
        if response.code != ResponseCode.SUCCESS:
            return
        yield decode_record(response.body, check_crc=False)
        offset += len(response.body)


def bodies_of(pulled: Command) -> list[bytes]:
    """Return the bodies of a pull's response, which must have found some."""
    return [record.body for record in records_of(pulled)]


def topic_of(broker: Client, name: str) -> TopicConfig:
    """Return a topic's configuration as the broker has it."""
    table = decode_topic_table(require_success(broker.all_topic_config()).body)
    return table.topics[name]
