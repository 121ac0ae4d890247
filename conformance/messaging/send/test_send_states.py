"""Responses to sends while the broker's settings or role forbid them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.pytest_plugin.fixtures import create_group
from conformance.harness.pytest_plugin.known_settings import (
    changed,
    fields_of_region,
    need_reported,
)
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.stored_messages import offset_of, topic_of
from spec.routing.topic_config import TopicConfig
from spec.store.message_record import decode_record
from spec.wire.message.topic_names import DEFAULT_TOPIC
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

FAR_FUTURE_MS = 4_102_444_800_000
READ_ONLY = 4


@pytest.fixture
def broker(configurable_target: Target) -> Iterator[Client]:
    """Yield a connection to the broker whose settings may be changed."""
    with configurable_target.connect_to_broker() as client:
        yield client


@pytest.fixture
def topic(broker: Client, unique: Any) -> str:
    """Return a topic of the test's own on that broker."""
    name: str = unique("states")
    require_success(broker.create_topic(topic=name))
    return name


@pytest.mark.clause("SEND-STATE-001")
def test_before_its_time_a_broker_takes_nothing(broker: Client, topic: str) -> None:
    with changed(broker, startAcceptSendRequestTimeStamp=str(FAR_FUTURE_MS)):
        response = broker.send_message(topic=topic)
        code = ResponseCode.SYSTEM_ERROR
        expect_code("SEND-STATE-001", response, code, broker.transcript)
    require_success(broker.send_message(topic=topic))


def expect_slave_refuses(clause: str, broker: Client, topic: str, code: int) -> None:
    """Fail *clause* unless a slave responds with *code* and stores nothing."""
    with changed(broker, brokerRole="SLAVE"):
        response = broker.send_message(topic=topic)
        expect_code(clause, response, code, broker.transcript)
    first = require_success(broker.send_message(topic=topic)).fields["queueOffset"]
    expect(
        clause,
        found=first,
        expected="0",
        what="queueOffset afterwards",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-STATE-002")
@pytest.mark.needs(Capability.REPLICATION)
def test_a_slave_takes_nothing(broker: Client, topic: str) -> None:
    code = ResponseCode.SERVICE_NOT_AVAILABLE
    expect_slave_refuses("SEND-STATE-002", broker, topic, code)


@pytest.mark.clause("SEND-STATE-013")
@pytest.mark.needs(Capability.REPLICATION)
def test_a_slave_is_busy(broker: Client, topic: str) -> None:
    code = ResponseCode.SYSTEM_BUSY
    expect_slave_refuses("SEND-STATE-013", broker, topic, code)


@pytest.mark.clause("SEND-STATE-008")
def test_a_master_without_slave_says_so_and_stores(broker: Client, topic: str) -> None:
    with changed(broker, brokerRole="SYNC_MASTER"):
        response = broker.send_message(topic=topic, body=b"lonely")
        code = ResponseCode.SLAVE_NOT_AVAILABLE
        expect_code("SEND-STATE-008", response, code, broker.transcript)
    viewed = require_success(broker.view_message_by_id(response.fields["msgId"]))
    record = decode_record(viewed.body)
    expect_fields(
        "SEND-STATE-008",
        found={"body": record.body, "queueOffset": response.fields["queueOffset"]},
        expected={"body": b"lonely", "queueOffset": "0"},
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-STATE-009")
def test_a_master_without_slave_is_enough(broker: Client, topic: str) -> None:
    with changed(broker, brokerRole="SYNC_MASTER"):
        response = broker.send_message(topic=topic)
        expect_code("SEND-STATE-009", response, ResponseCode.SUCCESS, broker.transcript)


@pytest.mark.clause("SEND-STATE-010")
def test_a_message_that_waits_for_nobody_succeeds(broker: Client, topic: str) -> None:
    with changed(broker, brokerRole="SYNC_MASTER"):
        response = broker.send_message(topic=topic, properties={"WAIT": "false"})
        expect_code("SEND-STATE-010", response, ResponseCode.SUCCESS, broker.transcript)


@pytest.mark.clause("SEND-RESPONSE-005", "SEND-RESPONSE-006")
@pytest.mark.parametrize(
    "code",
    [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2],
)
def test_region_and_tracing_are_the_brokers(
    configurable_target: Target, broker: Client, topic: str, code: int
) -> None:
    def expect_of_broker(expected: Mapping[str, str]) -> None:
        for clause, queue_id in (("SEND-RESPONSE-005", 0), ("SEND-RESPONSE-006", 77)):
            response = broker.send_message(topic=topic, queue_id=queue_id, code=code)
            expect_fields(
                clause,
                found=response.fields,
                expected=expected,
                transcript=broker.transcript,
            )

    before = fields_of_region(configurable_target)
    expect_of_broker(before)
    other = "false" if before["TRACE_ON"] == "true" else "true"
    with changed(broker, regionId="Elsewhere", traceOn=other):
        expect_of_broker({"MSG_REGION": "Elsewhere", "TRACE_ON": other})


@pytest.mark.clause("SEND-PERM-002", "SEND-PERM-003")
def test_a_read_only_broker_refuses_ordered_topics(
    configurable_target: Target, broker: Client, topic: str, unique: Any
) -> None:
    ordered = unique("ordered")
    with configurable_target.connect_to_namesrv() as namesrv:
        # A broker requests the list of ordered topics from the name server.
        where = f"{configurable_target.broker_name}:4"
        put = namesrv.put_kv(namespace="ORDER_TOPIC_CONFIG", key=ordered, value=where)
        require_success(put)
    require_success(broker.create_topic(topic=ordered, order=True))
    try:
        with changed(broker, brokerPermission=str(READ_ONLY)):
            for clause, name, code in (
                ("SEND-PERM-002", topic, ResponseCode.SUCCESS),
                ("SEND-PERM-003", ordered, ResponseCode.NO_PERMISSION),
            ):
                response = broker.send_message(topic=name)
                expect_code(clause, response, code, broker.transcript)
    finally:
        with configurable_target.connect_to_namesrv() as namesrv:
            entry = {"namespace": "ORDER_TOPIC_CONFIG", "key": ordered}
            require_success(namesrv.delete_kv(**entry))


@pytest.mark.clause("RETRY-SENDBACK-007")
def test_a_read_only_broker_refuses_messages_sent_back(
    configurable_target: Target, broker: Client, topic: str, group: str
) -> None:
    create_group(configurable_target, group)
    sent = require_success(broker.send_message(topic=topic))
    with changed(broker, brokerPermission=str(READ_ONLY)):
        response = broker.send_back(
            group=group, commit_log_offset=offset_of(sent), origin_topic=topic
        )
        code = ResponseCode.NO_PERMISSION
        expect_code("RETRY-SENDBACK-007", response, code, broker.transcript)


@pytest.mark.clause("RETRY-SENDBACK-009")
def test_a_message_sent_back_needs_its_group(
    broker: Client, topic: str, group: str
) -> None:
    sent = require_success(broker.send_message(topic=topic))
    with changed(broker, autoCreateSubscriptionGroup="false"):
        response = broker.send_back(
            group=group,
            commit_log_offset=offset_of(sent),
            origin_topic=topic,
            max_reconsume_times=16,
        )
        code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        expect_code("RETRY-SENDBACK-009", response, code, broker.transcript)


@pytest.mark.clause("SEND-RETRY-002")
def test_a_retry_topic_wants_its_group(broker: Client, group: str) -> None:
    with changed(broker, autoCreateSubscriptionGroup="false"):
        response = broker.send_message(topic=f"%RETRY%{group}", max_reconsume_times=16)
        code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        expect_code("SEND-RETRY-002", response, code, broker.transcript)


@pytest.mark.clause("SEND-BODY-006")
def test_the_largest_message_is_a_setting(broker: Client, topic: str) -> None:
    settings = broker.broker_settings()
    need_reported(["maxMessageSize"], settings)
    largest = int(settings["maxMessageSize"])
    if largest > 16_777_216 // 2:
        unsupported(f"a message of more than maxMessageSize={largest} fits no frame")
    sizes = (largest // 2, largest + 1)
    codes = [broker.send_message(topic=topic, body=bytes(n)).code for n in sizes]
    expect(
        "SEND-BODY-006",
        found=codes,
        expected=[ResponseCode.SUCCESS, ResponseCode.MESSAGE_ILLEGAL],
        what=f"codes for bodies of {sizes} bytes",
        transcript=broker.transcript,
    )


@contextmanager
def default_topic_kept(broker: Client) -> Iterator[None]:
    """Put the default topic back in the end: from 5.0 on it stays closed.

    A broker that does not let it be changed is left alone.
    """
    config = topic_of(broker, DEFAULT_TOPIC)
    if not is_put_back(broker, config):
        unsupported(f"the broker lets nobody change {DEFAULT_TOPIC}")
    try:
        yield
    finally:
        assert is_put_back(broker, config), f"{DEFAULT_TOPIC} is not as it was"


def is_put_back(broker: Client, config: TopicConfig) -> bool:
    """Give the default topic its configuration, and return whether it has it."""
    name = "validateSystemTopicWhenUpdateTopic"
    settings = {name: "false"} if name in broker.broker_settings() else {}
    with changed(broker, **settings) if settings else nullcontext():
        broker.create_topic(
            topic=config.topic,
            queue_count=config.write_queue_count,
            read_queue_count=config.read_queue_count,
            permissions=config.permission,
        )
    return topic_of(broker, DEFAULT_TOPIC) == config


@pytest.mark.clause("SEND-TOPIC-013", "SEND-TOPIC-014", "SEND-TOPIC-015")
def test_topics_are_not_created_without_leave(
    configurable_target: Target, broker: Client, unique: Any
) -> None:
    is_own = Capability.CONFIG in configurable_target.capabilities
    with nullcontext() if is_own else default_topic_kept(broker):
        with changed(broker, autoCreateTopicEnable="false"):
            refused = broker.send_message(topic=unique("unwanted"))
            code = ResponseCode.TOPIC_NOT_EXIST
            expect_code("SEND-TOPIC-014", refused, code, broker.transcript)
            for default in (
                configurable_target.cluster,
                configurable_target.broker_name,
            ):
                heir = broker.send_message(topic=unique("heir"), default_topic=default)
                code = ResponseCode.SUCCESS
                expect_code("SEND-TOPIC-013", heir, code, broker.transcript)
        again = broker.send_message(topic=unique("unwanted"))
        code = ResponseCode.TOPIC_NOT_EXIST
        expect_code("SEND-TOPIC-015", again, code, broker.transcript)
