"""Requests of a producer: codes, headers, keys, compressed bodies, batches, ports."""

from __future__ import annotations

import zlib

import pytest

from conformance.client.application import Application
from conformance.client.calls import body_of
from conformance.client.scripted.scripted_broker import SENDS, ScriptedBroker, header_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from spec.store.message_record import SystemFlag
from spec.wire.message.properties import Property, decode_properties
from spec.wire.remoting.request_code import RequestCode
from spec.wire.send.batch_body import decode_batch
from spec.wire.send.send import LETTERS

COMPRESSED_FROM = 4096
IN_2017_MS = 1_500_000_000_000


def properties_of(broker: ScriptedBroker, number: int = 0) -> dict[str, str]:
    """Return the properties of a message that came to *broker*."""
    return decode_properties(header_of(broker.sends[number])["properties"])


def flags_of(broker: ScriptedBroker, number: int = 0) -> int:
    """Return the system flags of a message that came to *broker*."""
    return int(header_of(broker.sends[number])["sysFlag"])


@pytest.mark.clause("CLIENT-SEND-009")
def test_a_message_is_sent_with_letters(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    application.producer().send(topic)
    command = broker.sends[0].command
    expect(
        "CLIENT-SEND-009",
        found=command.code,
        expected=RequestCode.SEND_MESSAGE_V2,
        what="request code",
    )
    expect(
        "CLIENT-SEND-009",
        found=sorted(set(command.fields) & set(LETTERS)),
        expected=[],
        what="header fields with whole names",
    )


@pytest.mark.clause(
    "CLIENT-SEND-009", "CLIENT-SEND-004", "CLIENT-SEND-007", "CLIENT-SEND-002"
)
def test_a_batch_is_one_request_and_never_compressed(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    bodies = (b"a", bytes(3000), bytes(2000))
    outcome = application.producer().send_batch(topic, *bodies)
    expect("CLIENT-SEND-009", found=outcome.word, expected="SEND_OK", what="result")
    request = broker.sends[0]
    expect(
        "CLIENT-SEND-009",
        found=(len(broker.sends), request.command.code),
        expected=(1, RequestCode.SEND_BATCH_MESSAGE),
        what="requests, and code",
    )
    found = list(decode_batch(request.command.body))
    expect(
        "CLIENT-SEND-004",
        found=([one.body for one in found], flags_of(broker) & SystemFlag.COMPRESSED),
        expected=(list(bodies), 0),
        what="bodies, and the flag of compressed ones",
    )
    expect(
        "CLIENT-SEND-007",
        found=header_of(request)["batch"],
        expected="true",
        what="batch, without which a broker stores one message",
    )
    keys = [decode_properties(one.properties).get(Property.UNIQ_KEY) for one in found]
    expect_that(
        "CLIENT-SEND-002",
        None not in keys and len(set(keys)) == len(bodies),
        found=keys,
        expected="a unique key of its own for each message",
    )


@pytest.mark.clause("CLIENT-SEND-003", "CLIENT-SEND-005")
@pytest.mark.parametrize("size", [COMPRESSED_FROM - 1, COMPRESSED_FROM, 100_000])
def test_a_body_of_4096_bytes_is_compressed(
    application: Application, broker: ScriptedBroker, topic: str, size: int
) -> None:
    body = b"rocketmq" * (size // 8) + b"x" * (size % 8)
    outcome = application.producer().send(topic, body)
    received = broker.sends[0].command.body
    is_large = size >= COMPRESSED_FROM
    expect(
        "CLIENT-SEND-003",
        found=bool(flags_of(broker) & SystemFlag.COMPRESSED),
        expected=is_large,
        what=f"bit 0 of the system flags of {size} bytes",
    )
    if is_large:
        expect(
            "CLIENT-SEND-003", found=inflated(received), expected=body, what="zlib body"
        )
    else:
        expect("CLIENT-SEND-003", found=received, expected=body, what="body")
    assert outcome.result is not None
    after = outcome.result.get("body_after")
    if after is not None:
        found = body_of({"body": after})
        expect("CLIENT-SEND-005", found=found, expected=body, what="the caller's body")


@pytest.mark.clause("CLIENT-SEND-003")
def test_from_which_size_on_a_body_is_compressed_can_be_set(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    application.producer(compress_over=100).send(topic, bytes(100))
    expect(
        "CLIENT-SEND-003",
        found=bool(flags_of(broker) & SystemFlag.COMPRESSED),
        expected=True,
        what="bit 0 of the system flags of 100 bytes",
    )


@pytest.mark.clause("CLIENT-SEND-007")
def test_a_header_says_who_sends_what_where(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer()
    producer.send(topic, flag=7)
    header = header_of(broker.sends[0])
    born_ms = header["bornTimestamp"]
    expect_fields(
        "CLIENT-SEND-007",
        found=header,
        expected={
            "producerGroup": producer.group,
            "topic": topic,
            "defaultTopic": "TBW102",
            "defaultTopicQueueNums": "4",
            "sysFlag": "0",
            "flag": "7",
            "reconsumeTimes": "0",
            "unitMode": "false",
            "batch": "false",
        },
    )
    expect_that(
        "CLIENT-SEND-007",
        header["queueId"] in {"0", "1", "2", "3"} and int(born_ms) > IN_2017_MS,
        found=(header["queueId"], born_ms),
        expected="one of four queue ids, and milliseconds since 1970",
        what="queueId and bornTimestamp",
    )


@pytest.mark.clause("CLIENT-SEND-007")
def test_what_the_application_says_of_a_message_is_in_its_properties(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    given = {"a": "b", "größe": "Größe 🚀"}
    application.producer().send(
        topic, tags="T1", keys="k1 k2", properties=given, delay_level=3
    )
    expected = {"TAGS": "T1", "KEYS": "k1 k2", "DELAY": "3", **given}
    expect_fields("CLIENT-SEND-007", found=properties_of(broker), expected=expected)


@pytest.mark.clause("CLIENT-SEND-002", "CLIENT-SENDRESULT-002")
def test_the_id_of_a_result_is_the_unique_key(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    outcome = application.producer().send(topic)
    assert outcome.result is not None
    key = properties_of(broker).get(Property.UNIQ_KEY)
    expect(
        "CLIENT-SENDRESULT-002",
        found=outcome.result.get("message_id"),
        expected=key,
        what="message id",
    )


@pytest.mark.clause("CLIENT-SENDRESULT-002", "CLIENT-SENDRESULT-001")
def test_a_result_says_what_the_response_says(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    received = {"msgId": "7F00000100002A9F00000000000003E8", "queueId": "3"}
    far = str(2**40 + 5)
    for code in SENDS:
        broker.on(
            code, lambda one: one.respond(fields={**received, "queueOffset": far})
        )
    outcome = application.producer().send(topic)
    assert outcome.result is not None
    expect_fields(
        "CLIENT-SENDRESULT-002",
        found=outcome.result,
        expected={
            "offset_message_id": received["msgId"],
            "queue_id": 3,
            "queue_offset": far,
            "broker": "broker-a",
        },
    )


@pytest.mark.clause("CLIENT-UNIQKEY-001")
def test_a_unique_key_has_32_digits_and_names_an_address(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer()
    count = 16  # the last digit of a counter takes each value
    for _ in range(count):
        producer.send(topic)
    keys = [properties_of(broker, one)[Property.UNIQ_KEY] for one in range(count)]
    expect(
        "CLIENT-UNIQKEY-001",
        found=[set(key) <= set("0123456789ABCDEF") and len(key) for key in keys],
        expected=[32] * count,
        what="hexadecimal digits",
    )
    counters = [int(key[-4:], 16) for key in keys]
    begun = counters[0]
    expect(
        "CLIENT-UNIQKEY-001",
        found=[(one - begun) % 65_536 for one in counters],
        expected=list(range(count)),
        what="how the counter grows",
    )
    expect("CLIENT-UNIQKEY-001", found=len({k[:20] for k in keys}), expected=1, what="")


@pytest.mark.clause("CLIENT-SELECT-001")
def test_messages_take_the_queues_in_turn(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 2, "broker-b": 2})
    producer = application.producer()
    for number in range(8):
        producer.send(topic, str(number).encode())
    found = {}
    for name in cluster.brokers:
        for one in cluster.broker(name).sends:
            place = (name, header_of(one)["queueId"])
            found[int(one.command.body)] = place
    rounds = [[found[n] for n in range(start, start + 4)] for start in (0, 4)]
    expect(
        "CLIENT-SELECT-001", found=rounds[1], expected=rounds[0], what="second round"
    )
    expect("CLIENT-SELECT-001", found=len(set(rounds[0])), expected=4, what="queues")


@pytest.mark.clause("CLIENT-SELECT-001")
def test_topics_that_take_turns_each_use_all_of_their_queues(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    topics = (topic, f"{topic}_other")
    for one in topics:
        cluster.route(one, {"broker-a": 2})
    producer = application.producer()
    for one in topics * 4:
        producer.send(one)
    headers = [header_of(one) for one in cluster.broker().sends]
    expect(
        "CLIENT-SELECT-001",
        found=sorted({(one["topic"], one["queueId"]) for one in headers}),
        expected=sorted((one, number) for one in topics for number in "01"),
        what="queues of two topics, of four messages to each",
    )


@pytest.mark.clause("CLIENT-SEND-010")
def test_with_the_vip_channel_a_producer_goes_to_the_port_less_two(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    application.need("vip")
    broker = cluster.broker_with_vip_port()
    cluster.route(topic, {"broker-a": 1})
    outcome = application.producer(vip=True).send(topic)
    expect("CLIENT-SEND-010", found=outcome.word, expected="SEND_OK", what="result")
    expect(
        "CLIENT-SEND-010",
        found=broker.sends[0].connection.local_port,
        expected=broker.address.port - 2,
        what="port",
    )


@pytest.mark.clause("CLIENT-SEND-010")
def test_without_it_a_producer_goes_to_the_port(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = cluster.broker_with_vip_port()
    cluster.route(topic, {"broker-a": 1})
    application.producer(vip=False).send(topic)
    expect(
        "CLIENT-SEND-010",
        found=broker.sends[0].connection.local_port,
        expected=broker.address.port,
        what="port",
    )


def inflated(data: bytes) -> bytes | str:
    """Return the content of the zlib stream *data*, or the decompression error."""
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        return str(error)
