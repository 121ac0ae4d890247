"""Consumption of a message that an administrator sends (CONSUME_MESSAGE_DIRECTLY)."""

from __future__ import annotations

import pytest

from conformance.client.admin_requests import (
    COUNT,
    client_id_of,
    commits_of,
    filled,
    response_to,
)
from conformance.client.application import Application, Consumer
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import BACK, first_pulls, one_queue, pulls_of
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.store.message_record import Record, encode_record
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.running_info import ConsumeMessageDirectlyResult
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def handed_over(request: ReceivedRequest, record: Record, group: str) -> Command:
    """Hand *record* to *group* where *request* came from, and return the response."""
    fields = {
        "consumerGroup": group,
        "clientId": client_id_of(request),
        "brokerName": "broker-a",
    }
    code = RequestCode.CONSUME_MESSAGE_DIRECTLY
    return response_to(request, code, fields, encode_record(record))


def consumed(
    consumer: Consumer, broker: ScriptedBroker, topic: str, keys: str
) -> Command:
    """Hand a message of a retry topic to *consumer*, and return its response."""
    record = broker.put(
        f"%RETRY%{consumer.group}", b"direct", KEYS=keys, RETRY_TOPIC=topic
    )
    pull = first_pulls(broker, topic, 1)
    return handed_over(pull[0], record, consumer.group)


@pytest.mark.clause("CLIENT-ADMIN-005")
@pytest.mark.parametrize("order", ["concurrent", "orderly"])
@pytest.mark.parametrize(
    ("word", "result"),
    [
        ("success", "CR_SUCCESS"),
        ("later", "CR_LATER"),
        ("fail", "CR_THROW_EXCEPTION"),
    ],
)
def test_a_message_can_be_handed_to_a_consumer_directly(
    application: Application,
    cluster: ScriptedCluster,
    topic: str,
    order: str,
    word: str,
    result: str,
) -> None:
    broker = one_queue(cluster, topic)
    consumer = application.consumer(topic, order=order, outcomes={"direct": [word]})
    response = consumed(consumer, broker, topic, "direct")
    expect("CLIENT-ADMIN-005", found=response.code, expected=0, what="code")
    received = decode_body(ConsumeMessageDirectlyResult, response.body)
    expect(
        "CLIENT-ADMIN-005",
        found=(received.result, received.is_ordered),
        expected=(result, order == "orderly"),
        what="consumeResult and order",
    )
    found = consumer.wait_for()
    expect(
        "CLIENT-ADMIN-005",
        found=[(one["topic"], body_of(one)) for one in found],
        expected=[(topic, b"direct")],
        what="messages of the application",
    )


@pytest.mark.clause("CLIENT-ADMIN-006")
def test_a_message_that_was_handed_over_directly_has_no_other_effect(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    consumer = application.consumer(topic, outcomes={"direct": ["later"]})
    response = consumed(consumer, broker, topic, "direct")
    expect("CLIENT-ADMIN-006", found=response.code, expected=0, what="code")
    consumer.stop()
    broker.wait_for_end()
    expect(
        "CLIENT-ADMIN-006",
        found=len(broker.requests(BACK)) + len(broker.sends),
        expected=0,
        what="messages that go back",
    )
    expect(
        "CLIENT-ADMIN-006",
        found=[offset for _, offset in commits_of(broker, topic) if offset > 0],
        expected=[],
        what="offsets that are committed",
    )


@pytest.mark.clause("CLIENT-ADMIN-005")
def test_a_consumer_takes_no_message_of_a_group_that_it_is_not_in(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = filled(cluster, topic)
    consumer = application.consumer(topic)
    consumer.wait_for(COUNT)
    record = broker.put(topic, b"direct")
    pull = pulls_of(broker, topic)[0]
    code = handed_over(pull, record, unique_name("group")).code
    error = ResponseCode.SYSTEM_ERROR
    expect("CLIENT-ADMIN-005", found=code, expected=error, what="code")
