"""Sending: the response, and the stored record beside the message sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.harness.client.client import Client, plain_send, require_success
from conformance.harness.failure.failure import record_evidence
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.pytest_plugin.known_settings import need_message_size
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import (
    bodies_of,
    offset_of,
    record_of,
    records_of,
    send_bodies,
)
from conformance.strategies.boundaries import ON_A_TOPIC_EACH, OVER_THE_WIRE, int32s
from conformance.strategies.messages import LARGEST_BODY, bodies, born_times
from spec.host import Host
from spec.store.message_record import SystemFlag
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.send import SEND_RESPONSE_FIELDS

NAMED = {"UNIQ_KEY": "7F0000010000"}
"""Real producers always name their messages."""
OF_THE_BROKER = ("MSG_REGION", "TRACE_ON")
SEND_CODES = (RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2)
"""SEND_BATCH_MESSAGE without batch, which no client sends, is in SEND-BATCH-009."""


def expect_region(clause_id: str, response: Command, broker: Client) -> None:
    """Fail *clause_id* unless *response* has the broker's region and trace setting."""
    for name in OF_THE_BROKER:
        expect_that(
            clause_id,
            bool(response.fields.get(name)),
            found=response.fields.get(name, "(absent)"),
            expected="a value that is not empty",
            what=name,
            transcript=broker.transcript,
        )


@pytest.mark.clause("SEND-RESPONSE-001", "SEND-RESPONSE-004")
@pytest.mark.parametrize("code", SEND_CODES)
def test_a_response_names_id_queue_and_offset(
    broker: Client, topic: str, code: int
) -> None:
    response = require_success(broker.send_message(topic=topic, queue_id=3, code=code))
    missing = [name for name in SEND_RESPONSE_FIELDS if name not in response.fields]
    expect(
        "SEND-RESPONSE-001",
        found=missing,
        expected=[],
        what="absent fields",
        transcript=broker.transcript,
    )
    expect_fields(
        "SEND-RESPONSE-001",
        found=response.fields,
        expected={"queueId": "3", "queueOffset": "0"},
        transcript=broker.transcript,
    )
    expect_region("SEND-RESPONSE-004", response, broker)


@pytest.mark.clause("SEND-RESPONSE-006")
@pytest.mark.parametrize("code", SEND_CODES)
def test_a_refusal_says_the_brokers_region_too(
    broker: Client, topic: str, code: int
) -> None:
    response = broker.send_message(topic=topic, queue_id=77, code=code)
    assert response.code != ResponseCode.SUCCESS
    expect_region("SEND-RESPONSE-006", response, broker)


@pytest.mark.clause("SEND-RESPONSE-002", "WIRE-MESSAGEID-001", "SEND-HOST-002")
@pytest.mark.parametrize("code", SEND_CODES)
def test_the_id_in_the_response_is_the_records_place(
    target: Target, broker: Client, topic: str, code: int
) -> None:
    stored_by = target.registered or broker.storage or broker.address
    for number in range(3):
        response = broker.send_message(topic=topic, body=b"%d" % number, code=code)
        record = record_of(broker, response)
        host, offset = decode_message_id(response.fields["msgId"])
        expect_fields(
            "SEND-RESPONSE-002",
            found={"body": record.body, "physical_offset": record.physical_offset},
            expected={"body": b"%d" % number, "physical_offset": offset},
            transcript=broker.transcript,
        )
        expect(
            "SEND-HOST-002",
            found=record.store_host,
            expected=host,
            transcript=broker.transcript,
        )
        message_id = response.fields["msgId"]
        expect(
            "WIRE-MESSAGEID-001",
            found=message_id,
            expected=message_id.upper(),
            transcript=broker.transcript,
        )
        expect(
            "WIRE-MESSAGEID-001",
            found=len(message_id),
            expected=56 if host.is_v6 else 32,
            what="digits",
            transcript=broker.transcript,
        )
        expect(
            "WIRE-MESSAGEID-001",
            found=host.port,
            expected=stored_by.port,
            what="port",
            transcript=broker.transcript,
        )


@pytest.mark.clause("SEND-RESPONSE-003")
@ON_A_TOPIC_EACH
@given(queues=st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_offsets_count_up_in_each_queue(
    target: Target, broker: Client, unique: Any, queues: list[int]
) -> None:
    topic = unique("counting")
    create_topic(target, topic)
    counts = dict.fromkeys(range(4), 0)
    for queue_id in queues:
        response = require_success(broker.send_message(topic=topic, queue_id=queue_id))
        expect(
            "SEND-RESPONSE-003",
            found=response.fields["queueOffset"],
            expected=str(counts[queue_id]),
            what="queueOffset",
            transcript=broker.transcript,
        )
        counts[queue_id] += 1


@pytest.mark.clause("SEND-HEADER-001")
@pytest.mark.parametrize("code", SEND_CODES)
@ON_A_TOPIC_EACH
@given(
    flag=int32s(),
    born=born_times(),
    times=st.integers(0, 2**31 - 1),
    body=bodies(),
    packed=st.sampled_from([0, int(SystemFlag.COMPRESSED)]),
)
def test_both_spellings_of_the_header_are_stored_whole(
    target: Target,
    broker: Client,
    topic: str,
    code: int,
    flag: int,
    born: int,
    times: int,
    body: bytes,
    packed: int,
) -> None:
    need_message_size(target, 2 * LARGEST_BODY)
    response = broker.send_message(
        topic=topic,
        system_flags=packed,
        body=body,
        queue_id=2,
        properties={"name": "value"},
        flag=flag,
        born_at_ms=born,
        reconsume_times=times,
        code=code,
    )
    record = record_of(broker, response)
    found = {
        "topic": record.topic,
        "queue_id": record.queue_id,
        "flag": record.flag,
        "born_at_ms": record.born_at_ms,
        "reconsume_times": record.reconsume_times,
        "packed": record.system_flags & SystemFlag.COMPRESSED,
        "name": decode_properties(record.properties).get("name"),
        "body": record.body,
    }
    expected = {
        "topic": topic,
        "queue_id": 2,
        "flag": flag,
        "born_at_ms": born,
        "reconsume_times": times,
        "packed": packed,
        "name": "value",
        "body": body,
    }
    expect_fields(
        "SEND-HEADER-001", found=found, expected=expected, transcript=broker.transcript
    )


@pytest.mark.clause("SEND-FLAG-001", "SEND-TIME-001", "SEND-RETRY-001")
@OVER_THE_WIRE
@given(flag=int32s(), born=born_times(), times=st.integers(0, 2**31 - 1))
@example(flag=0, born=1_600_000_000_000, times=0)  # as nearly every message is sent
def test_flag_born_time_and_deliveries_are_the_producers(
    broker: Client, topic: str, flag: int, born: int, times: int
) -> None:
    record = record_of(
        broker,
        broker.send_message(
            topic=topic,
            properties=NAMED,
            flag=flag,
            born_at_ms=born,
            reconsume_times=times,
        ),
    )
    expect(
        "SEND-FLAG-001",
        found=record.flag,
        expected=flag,
        what="flag",
        transcript=broker.transcript,
    )
    expect(
        "SEND-TIME-001",
        found=record.born_at_ms,
        expected=born,
        what="born_at_ms",
        transcript=broker.transcript,
    )
    expect(
        "SEND-RETRY-001",
        found=record.reconsume_times,
        expected=times,
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-FLAG-002")
@pytest.mark.parametrize("flags", [0, 1, 1 << 8, 1 | 1 << 8, 1 | 2 << 8, 1 | 3 << 8])
def test_the_broker_neither_packs_nor_unpacks_a_body(
    broker: Client, topic: str, flags: int
) -> None:
    body = b"this is not packed, whatever the flags say " * 200
    response = broker.send_message(topic=topic, body=body, system_flags=flags)
    record = record_of(broker, response)
    kept = SystemFlag.COMPRESSED | 7 << 8
    expect_fields(
        "SEND-FLAG-002",
        found={"system_flags": record.system_flags & kept, "body": record.body},
        expected={"system_flags": flags, "body": body},
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-HOST-001")
@pytest.mark.parametrize("properties", [None, NAMED])
def test_the_born_host_is_the_producers_end_of_the_connection(
    broker: Client, topic: str, properties: dict[str, str] | None
) -> None:
    with broker.another() as producer:
        response = producer.send_message(topic=topic, properties=properties)
        own = producer.peer.local_address
    record = record_of(broker, response)
    expect(
        "SEND-HOST-001",
        found=str(record.born_host),
        expected=str(Host.of(own.host, own.port)),
        what="born_host of the stored record",
        transcript=producer.transcript,
        evidence=record_evidence(record, "born_host"),
    )


@pytest.mark.clause("SEND-TIME-002")
def test_store_times_never_decrease(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"m"] * 30)
    times = [r.stored_at_ms for r in records_of(broker.pull(topic=topic, offset=0))]
    expect(
        "SEND-TIME-002",
        found=times,
        expected=sorted(times),
        what="stored_at_ms",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BODY-001")
@ON_A_TOPIC_EACH
@given(batch=st.lists(bodies(), min_size=1, max_size=3))
def test_bodies_arrive_byte_for_byte(
    target: Target, broker: Client, unique: Any, batch: list[bytes]
) -> None:
    need_message_size(target, 2 * LARGEST_BODY)
    topic = unique("bodies")
    create_topic(target, topic)
    send_bodies(broker, topic, batch)
    found: list[bytes] = []
    while len(found) < len(batch):
        found += bodies_of(broker.pull(topic=topic, offset=len(found)))
    expect(
        "SEND-BODY-001",
        found=found,
        expected=batch,
        what="the bodies that were pulled",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-QUEUE-001")
@OVER_THE_WIRE
@given(queue_id=st.one_of(st.just(-1), st.integers(-(2**31), -1)))
def test_the_broker_chooses_where_no_queue_is_named(
    broker: Client, topic: str, queue_id: int
) -> None:
    response = require_success(broker.send_message(topic=topic, queue_id=queue_id))
    chosen = int(response.fields["queueId"])
    expect_that(
        "SEND-QUEUE-001",
        0 <= chosen < 4,
        found=chosen,
        expected="one of the topic's 4 queues",
        what="queueId",
        transcript=broker.transcript,
    )
    record = record_of(broker, response)
    expect(
        "SEND-QUEUE-001",
        found=record.queue_id,
        expected=chosen,
        what="queue_id",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-ONEWAY-001")
def test_a_message_sent_oneway_is_stored(broker: Client, topic: str) -> None:
    for code in SEND_CODES:
        broker.send_message(topic=topic, body=b"oneway", code=code, oneway=True)
    count = len(SEND_CODES)
    broker.wait_for_max_offset(topic=topic, offset=count)
    found = bodies_of(broker.pull(topic=topic, offset=0))
    expect(
        "SEND-ONEWAY-001",
        found=found,
        expected=[b"oneway"] * count,
        what="bodies",
        transcript=broker.transcript,
    )
    silent = broker.peer.is_silent(0.2)
    expect(
        "SEND-ONEWAY-001",
        found=silent,
        expected=True,
        what="silence afterwards",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-HEADER-002", "SEND-RETRY-001")
def test_properties_and_deliveries_may_be_absent(broker: Client, topic: str) -> None:
    response = broker.peer.request(plain_send(topic, body=b"bare"))
    record = record_of(broker, response)
    expect_fields(
        "SEND-HEADER-002",
        found={"body": record.body, "reconsume_times": record.reconsume_times},
        expected={"body": b"bare", "reconsume_times": 0},
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-RESPONSE-003")
def test_two_producers_at_once_share_no_offset(broker: Client, topic: str) -> None:
    with broker.another() as other:
        opaques = []
        for number in range(50):
            producer = (broker, other)[number % 2]
            sent = plain_send(topic, body=b"%d" % number)
            opaques.append((producer, producer.peer.send(sent).opaque))
        responses = [
            producer.peer.receive_response(opaque) for producer, opaque in opaques
        ]
    offsets = sorted(int(require_success(a).fields["queueOffset"]) for a in responses)
    expect(
        "SEND-RESPONSE-003",
        found=offsets,
        expected=list(range(50)),
        what="offsets",
        transcript=broker.transcript,
    )
    places = {offset_of(response) for response in responses}
    expect(
        "SEND-RESPONSE-002",
        found=len(places),
        expected=50,
        what="different ids",
        transcript=broker.transcript,
    )
