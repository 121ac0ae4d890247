"""Registrations whose body is compressed, empty, old, wrong or cut."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from conformance.routing.fake_broker import FakeBroker, FakeCluster, unregister
from conformance.strategies.routes import topic_configs
from spec.routing.topic_config import TopicConfig, encode_topic_table
from spec.wire.bodies.fastjson import dumps, loads
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

ON_ONE_CONNECTION = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
"""Every example has names of its own, so that they may share the fake_cluster."""


@pytest.fixture
def compression(fake_cluster: FakeCluster) -> None:
    """Block the test where the name server refuses every compressed registration."""
    broker = fake_cluster.broker(peer=fake_cluster.client.peer)
    if broker.register(compressed=True).code != ResponseCode.SUCCESS:
        blocked("blocked by ROUTE-REG-002: a compressed registration is refused")
    broker.unregister()


@pytest.mark.clause(
    "ROUTE-REG-002", "ROUTE-DATA-001", "ROUTE-TOPIC-002", "ROUTE-TOPIC-003"
)
@ON_ONE_CONNECTION
@given(data=st.data(), compressed=st.booleans())
def test_any_topic_has_the_route_that_was_registered(
    fake_cluster: FakeCluster, data: st.DataObject, compressed: bool
) -> None:
    broker = fake_cluster.broker(peer=fake_cluster.client.peer)
    topic = data.draw(topic_configs(fake_cluster.unique("topic")))
    response = broker.register(topic, compressed=compressed)
    clause = "ROUTE-REG-002" if compressed else "ROUTE-DATA-001"
    transcript = fake_cluster.client.transcript
    expect_code(clause, response, ResponseCode.SUCCESS, transcript)
    route = fake_cluster.route(topic.topic)
    queues = route and route.queues_of(broker.name)
    found = queues and (
        queues.read_queue_count,
        queues.write_queue_count,
        queues.permission,
    )
    expect(
        clause,
        found=found,
        expected=(topic.read_queue_count, topic.write_queue_count, topic.permission),
        what="read queues, write queues and permission",
        transcript=transcript,
    )
    expect(
        "ROUTE-TOPIC-003" if compressed else "ROUTE-DATA-001",
        found=queues and queues.topic_flags,
        expected=0 if compressed else topic.topic_flags,
        what="flags of the topic",
        transcript=transcript,
    )
    broker.unregister()


@pytest.mark.clause("ROUTE-REG-003")
def test_a_wrong_checksum_is_refused(fake_cluster: FakeCluster) -> None:
    broker, topic, body = _prepared(fake_cluster)
    fields = broker.fields(body)
    wrong = {**fields, "bodyCrc32": str(int(fields["bodyCrc32"]) ^ 1)}
    response = broker.send(wrong, body)
    expect(
        "ROUTE-REG-003",
        found=(response.code, response.remark, fake_cluster.route(topic.topic)),
        expected=(ResponseCode.SYSTEM_ERROR, "crc32 not match", None),
        what="code, remark, route",
        transcript=broker.peer.transcript,
    )


@pytest.mark.usefixtures("compression")
@pytest.mark.clause("ROUTE-REG-003")
def test_the_checksum_is_that_of_the_compressed_bytes(
    fake_cluster: FakeCluster,
) -> None:
    broker, topic, _ = _prepared(fake_cluster)
    table = broker.table(topic)
    inflated = broker.encode(table)
    body = broker.encode(table, compressed=True)
    fields = broker.fields(body, compressed=True)
    other = broker.fields(inflated)["bodyCrc32"]
    for checksum, of, expected in (
        (other, "inflated", ResponseCode.SYSTEM_ERROR),
        (fields["bodyCrc32"], "sent", ResponseCode.SUCCESS),
    ):
        response = broker.send({**fields, "bodyCrc32": checksum}, body)
        expect_that(
            "ROUTE-REG-003",
            response.code == expected,
            found=(response.code, response.remark),
            expected=f"{expected:d} {expected.name}",
            what=f"code and remark for the checksum of the {of} bytes",
            transcript=broker.peer.transcript,
        )


@pytest.mark.clause("ROUTE-REG-004")
@pytest.mark.parametrize("checksum", ["0", None], ids=["zero", "absent"])
def test_a_registration_without_checksum_is_not_checked(
    fake_cluster: FakeCluster, checksum: str | None
) -> None:
    broker, topic, body = _prepared(fake_cluster)
    fields = broker.fields(body)
    del fields["bodyCrc32"]
    response = broker.send(fields | ({"bodyCrc32": checksum} if checksum else {}), body)
    expect(
        "ROUTE-REG-004",
        found=(response.code, fake_cluster.route(topic.topic) is not None),
        expected=(ResponseCode.SUCCESS, True),
        what="code, topic has a route",
        transcript=broker.peer.transcript,
    )


@pytest.mark.clause("ROUTE-REG-005")
@pytest.mark.parametrize("body", [b"null", b"0", b"{", b"hello", b"  "])
def test_a_body_that_is_no_registration_is_refused(
    fake_cluster: FakeCluster, body: bytes
) -> None:
    broker = fake_cluster.broker()
    response = broker.send(broker.fields(body), body)
    _expect_refused(fake_cluster, broker, response)


@pytest.mark.usefixtures("compression")
@pytest.mark.clause("ROUTE-REG-005")
@ON_ONE_CONNECTION
@given(part=st.floats(min_value=0, max_value=1), topics=st.integers(0, 20))
def test_a_compressed_body_cut_anywhere_is_refused(
    fake_cluster: FakeCluster, part: float, topics: int
) -> None:
    broker = fake_cluster.broker(peer=fake_cluster.client.peer)
    table = broker.table(*(TopicConfig(topic=f"cut{i}") for i in range(topics)))
    whole = broker.encode(table, compressed=True)
    body = whole[: 1 + round(part * (longest_incomplete(whole) - 1))]
    fields = broker.fields(body, compressed=True)
    _expect_refused(fake_cluster, broker, broker.send(fields, body))


def longest_incomplete(stream: bytes) -> int:
    """Return the size of the longest beginning of *stream* that lacks content.

    The last bytes of a zlib stream are its end and a checksum, without content. Bytes
    behind the empty list of filter servers are only read from brokers of 5.0 and later
    (Java: RegisterBrokerBody). The list itself has to be cut.
    """
    needed = zlib.decompress(stream).rindex(b"[]") + len(b"[]")
    size = len(stream)
    while len(zlib.decompressobj().decompress(stream[:size])) >= needed:
        size -= 1
    return size


@pytest.mark.usefixtures("compression")
@pytest.mark.clause("ROUTE-REG-005")
def test_a_part_that_claims_more_bytes_than_follow_is_refused(
    fake_cluster: FakeCluster,
) -> None:
    broker = fake_cluster.broker()
    body = zlib.compress((1_000).to_bytes(4, "big") + b'{"counter":1}')
    response = broker.send(broker.fields(body, compressed=True), body)
    _expect_refused(fake_cluster, broker, response)


@pytest.mark.clause("ROUTE-REG-006")
def test_a_registration_without_a_broker_id_is_refused(
    fake_cluster: FakeCluster,
) -> None:
    broker, topic, body = _prepared(fake_cluster)
    fields = broker.fields(body)
    del fields["brokerId"]
    response = broker.send(fields, body)
    expect(
        "ROUTE-REG-006",
        found=(response.code, fake_cluster.route(topic.topic)),
        expected=(ResponseCode.SYSTEM_ERROR, None),
        what="code, route",
        transcript=broker.peer.transcript,
    )


@pytest.mark.clause("ROUTE-REG-007")
def test_a_registration_without_body_registers_no_topics(
    fake_cluster: FakeCluster,
) -> None:
    broker = fake_cluster.broker()
    response = broker.send(broker.fields(b""), b"")
    expect(
        "ROUTE-REG-007",
        found=(response.code, broker.name in fake_cluster.clusters().brokers),
        expected=(ResponseCode.SUCCESS, True),
        what="code, broker is in the cluster information",
        transcript=broker.peer.transcript,
    )


@pytest.mark.clause("ROUTE-REG-008")
def test_a_very_old_broker_sends_the_topic_table_itself(
    fake_cluster: FakeCluster,
) -> None:
    broker, topic, _ = _prepared(fake_cluster)
    body = encode_topic_table(broker.table(topic))
    response = broker.peer.request(
        Command(
            code=RequestCode.REGISTER_BROKER,
            version=0,
            fields=broker.fields(body),
            body=body,
        )
    )
    expect(
        "ROUTE-REG-008",
        found=(response.code, fake_cluster.route(topic.topic) is not None),
        expected=(ResponseCode.SUCCESS, True),
        what="code, topic has a route",
        transcript=broker.peer.transcript,
    )


@pytest.mark.clause("ROUTE-TOPIC-001")
def test_what_a_topics_json_leaves_out_has_its_default(
    fake_cluster: FakeCluster,
) -> None:
    broker = fake_cluster.broker()
    name = fake_cluster.unique("topic")
    broker.topics_seen.add(name)
    body: Any = loads(broker.encode(broker.table(TopicConfig(topic=name))))
    # Only the topics' fields are left out, and nothing else that a broker sends.
    topics = body["topicConfigSerializeWrapper"]["topicConfigTable"]
    topics |= {topic: {"topicName": topic} for topic in topics}
    broker.topics_seen |= set(topics)
    changed = dumps(body)
    require_success(broker.send(broker.fields(changed), changed))
    route = fake_cluster.route(name)
    queues = route and route.queues_of(broker.name)
    expect(
        "ROUTE-TOPIC-001",
        found=queues
        and (
            queues.read_queue_count,
            queues.write_queue_count,
            queues.permission,
            queues.topic_flags,
        ),
        expected=(16, 16, 6, 0),
        what="read queues, write queues, permission and flags",
        transcript=broker.peer.transcript,
    )


@pytest.mark.usefixtures("compression")
@pytest.mark.clause("ROUTE-TOPIC-004")
def test_attributes_in_a_topics_line_do_not_hide_the_rest(
    fake_cluster: FakeCluster,
) -> None:
    code, found = _register_line_of_six(fake_cluster)
    expect(
        "ROUTE-TOPIC-004",
        found=(code, found),
        expected=(ResponseCode.SUCCESS, True),
        what="code, topic has a route",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.usefixtures("compression")
@pytest.mark.clause("ROUTE-TOPIC-005")
def test_a_topics_line_of_six_words_is_not_understood(
    fake_cluster: FakeCluster,
) -> None:
    code, found = _register_line_of_six(fake_cluster)
    expect(
        "ROUTE-TOPIC-005",
        found=(code, found),
        expected=(ResponseCode.SYSTEM_ERROR, False),
        what="code, topic has a route",
        transcript=fake_cluster.client.transcript,
    )


def _register_line_of_six(fake_cluster: FakeCluster) -> tuple[int, bool]:
    """Register, compressed, a topic with attributes; return code and success."""
    broker = fake_cluster.broker()
    topic = TopicConfig(
        topic=fake_cluster.unique("topic"), attributes={"+message.type": "FIFO"}
    )
    response = broker.register(topic, compressed=True)
    return response.code, fake_cluster.route(topic.topic) is not None


def _prepared(fake_cluster: FakeCluster) -> tuple[FakeBroker, TopicConfig, bytes]:
    """Return a broker, a topic and the body of its first registration."""
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker.topics_seen.add(topic.topic)
    table = broker.table(topic)
    return broker, topic, broker.encode(table)


def _expect_refused(
    fake_cluster: FakeCluster, broker: FakeBroker, response: Command
) -> None:
    expect(
        "ROUTE-REG-005",
        found=(response.code, broker.name in fake_cluster.clusters().brokers),
        expected=(ResponseCode.SYSTEM_ERROR, False),
        what="code, broker is registered",
        transcript=broker.peer.transcript,
    )
    still = unregister(broker.peer, broker.identity)
    expect(
        "ROUTE-REG-005",
        found=still.code,
        expected=ResponseCode.SUCCESS,
        what="code of the next answer on the same connection",
        transcript=broker.peer.transcript,
    )
