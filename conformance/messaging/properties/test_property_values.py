"""
A property with an unexpected value affects its own message only.

Each property name of RocketMQ is sent with several bad values, to topics of four kinds.
Two good messages of the same queue surround the bad one. A third good message follows a
restart. A broker may refuse a bad message; each good one arrives exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    another_target,
    create_topic,
    need,
)
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.stored_messages import offset_of
from spec.store.message_record import decode_record, decode_records
from spec.wire.message.properties import decode_properties
from spec.wire.message.property_names import PROPERTY_NAMES
from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.batch_body import BatchMessage, encode_batch

pytestmark = pytest.mark.long

VALUES = ("", "abc", "-1", "1.5", "9" * 40, "x" * 3000, "\x03\x7f", "\u0662", "%!/..")
"""Bad values of any property: no number, negative, huge, long, a path and others."""
NOT_UTF_8 = b"\xc3\x28\xff"
TOPIC_PREFIXES = {
    "ordinary": "",
    "retry": RETRY_PREFIX,
    "dead-letter": DLQ_PREFIX,
    "trace": "rmq_trace_",
}
GOOD = [b"before", b"behind"]


@pytest.fixture(scope="module")
def own(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield a target to restart."""
    need(target, Capability.WIRE, Capability.RESTART)
    with another_target(pytestconfig) as started:
        yield started


@pytest.mark.clause("SEND-PROPS-007", "PULL-FOUND-004", "QUERY-ID-001")
@pytest.mark.parametrize("prefix", TOPIC_PREFIXES.values(), ids=TOPIC_PREFIXES.keys())
def test_bad_property_values_stop_no_other_message(
    own: Target, unique: Callable[[str], str], prefix: str
) -> None:
    topic = create_topic(own, prefix + unique("topic"))
    with own.connect_to_broker() as client:
        send_good(client, topic, b"before")
        sent = send_bad_messages(client, topic)
        send_good(client, topic, b"behind")
        pulled = pull_up_to(client, topic, b"behind")
        found = [body for body in bodies_of_all(pulled) if body in GOOD]
        expect(
            "SEND-PROPS-007",
            found=found,
            expected=GOOD,
            transcript=client.transcript,
        )
        expect_records_of_the_log(client, pulled, sent)
    own.restart()
    with own.connect_to_broker() as client:
        send_good(client, topic, b"later")
        pulled = pull_up_to(client, topic, b"later")
        found = [body for body in bodies_of_all(pulled) if body != b"bad"]
        expect(
            "SEND-PROPS-007",
            found=found,
            expected=[*GOOD, b"later"],
            transcript=client.transcript,
        )
        expect_records_of_the_log(client, pulled, sent)


def send_good(client: Client, topic: str, body: bytes) -> None:
    """Send a message without properties; a retry topic needs a maximum of retries."""
    sent = client.send_message(topic=topic, body=body, max_reconsume_times=16)
    require_success(sent)


def send_bad_messages(client: Client, topic: str) -> dict[int, tuple[str, str]]:
    """Send each property with each bad value; the broker may refuse the message.

    Return name and value by the commit-log offset of the message.
    """
    sent = {}
    for name in PROPERTY_NAMES:
        for value in VALUES:
            response = client.send_message(
                topic=topic,
                body=b"bad",
                properties={name: value},
                max_reconsume_times=16,
            )
            if response.code == ResponseCode.SUCCESS:
                sent[offset_of(response)] = name, value
        # Text of a request's header is decoded, text in a batch is stored as it is.
        text = f"{name}\x01{NOT_UTF_8.decode(errors='surrogateescape')}\x02"
        batch = encode_batch([BatchMessage(body=b"bad", properties=text)])
        client.send_batch(topic=topic, body=batch)
    return sent


def pull_up_to(client: Client, topic: str, body: bytes) -> list[Command]:
    """Return the responses to pulls of queue 0, as soon as one has *body*."""
    pulled: list[Command] = []

    def has_body() -> bool:
        pulled[:] = client.pull_to_end(topic=topic)
        return body in bodies_of_all(pulled)

    wait_until(has_body, what="it is readable")
    return pulled


def expect_records_of_the_log(
    client: Client, pulled: Iterable[Command], sent: Mapping[int, tuple[str, str]]
) -> None:
    """Compare each record in the responses *pulled* with the commit log's.

    Where the properties differ, the response that has the *sent* one is right.
    """
    for response in pulled:
        rest = response.body
        for record in decode_records(response.body):
            offset = record.physical_offset
            viewed = require_success(client.view_message(commit_log_offset=offset)).body
            properties = decode_properties(record.properties)
            name, value = sent.get(offset, ("", ""))
            is_as_sent = name in properties and properties[name] == value
            is_other = (
                decode_record(viewed, check_crc=False).properties != record.properties
            )
            expect(
                "QUERY-ID-001" if is_as_sent and is_other else "PULL-FOUND-004",
                found=rest[: len(viewed)],
                expected=viewed,
                what=f"record {record.queue_offset} of the body",
                transcript=client.transcript,
            )
            rest = rest[len(viewed) :]


def bodies_of_all(pulled: Iterable[Command]) -> list[bytes]:
    """Return the bodies of all messages in the responses *pulled*."""
    return [
        record.body for response in pulled for record in decode_records(response.body)
    ]
