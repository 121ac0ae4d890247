"""Questions that an administrator asks a client, by way of the broker."""

from __future__ import annotations

import pytest

from conformance.harness.speaker import (
    Speaker,
    body_of,
    consumer_data,
    json_body,
    succeeded,
)
from conformance.harness.verdicts import expect, expect_code, expect_fields
from spec.host import Host
from spec.wire.command import Command, CommandFlag
from spec.wire.message_id import encode_message_id
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

QUESTIONS = (
    RequestCode.GET_CONSUMER_RUNNING_INFO,
    RequestCode.CONSUME_MESSAGE_DIRECTLY,
)


def asking(code: RequestCode, group: str, *, place: str) -> Command:
    """Return a question for the client of *group*; *place* names a message."""
    fields = {
        "consumerGroup": group,
        "clientId": f"client_{group}",
        "jstackEnable": "false",
        "msgId": place,
        "brokerName": "broker-a",
    }
    return Command(code=code, fields=fields)


@pytest.mark.clause("ADMIN-CLIENT-001")
@pytest.mark.parametrize("code", QUESTIONS)
def test_a_client_is_asked_and_its_answer_passed_on(
    broker: Speaker, topic: str, group: str, code: RequestCode
) -> None:
    place = succeeded(broker.send_message(topic=topic)).fields["msgId"]
    with Speaker.connect(broker.address) as client:
        consumer = consumer_data(group=group)
        succeeded(client.heartbeat(client_id=f"client_{group}", consumers=[consumer]))
        asked = broker.peer.send(asking(code, group, place=place))
        heard = client.peer.receive_request(code)
        expect_fields(
            "ADMIN-CLIENT-001",
            found=heard.fields,
            expected={"consumerGroup": group, "clientId": f"client_{group}"},
            transcript=client.transcript,
        )
        client.peer.send(
            Command(
                code=ResponseCode.SUCCESS,
                opaque=heard.opaque,
                flag=CommandFlag.RESPONSE,
                body=b'{"said":"by the client"}',
            )
        )
        answer = broker.peer.receive_answer(asked.opaque)
    expect(
        "ADMIN-CLIENT-001",
        found=(answer.code, answer.body),
        expected=(ResponseCode.SUCCESS, b'{"said":"by the client"}'),
        what="code and body of what is passed on",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-CLIENT-003")
@pytest.mark.parametrize("is_named", [False, True])
def test_clients_are_asked_how_far_they_are(
    broker: Speaker, topic: str, group: str, is_named: bool
) -> None:
    queue = (("brokerName", "broker-a"), ("queueId", 1), ("topic", topic))
    fields = {"topic": topic, "group": group}
    if is_named:
        fields["clientAddr"] = f"client_{group}"
    with Speaker.connect(broker.address) as client:
        consumer = consumer_data(group=group)
        succeeded(client.heartbeat(client_id=f"client_{group}", consumers=[consumer]))
        code = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
        asked = broker.peer.send(Command(code=code, fields=fields))
        heard = client.peer.receive_request(RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT)
        client.peer.send(
            Command(
                code=ResponseCode.SUCCESS,
                opaque=heard.opaque,
                flag=CommandFlag.RESPONSE,
                body=json_body({"messageQueueTable": {queue: 7}}),
            )
        )
        answer = broker.peer.receive_answer(asked.opaque)
    found = body_of(answer)
    assert isinstance(found, dict)
    offsets = found["consumerTable"][f"client_{group}"]
    expect(
        "ADMIN-CLIENT-003",
        found=(heard.fields.get("topic"), list(offsets.values())),
        expected=(topic, [7]),
        what="topic asked about, offsets of the client",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-CLIENT-002")
@pytest.mark.parametrize("code", QUESTIONS)
def test_nobody_answers_for_a_client_that_is_not_there(
    broker: Speaker, topic: str, group: str, code: RequestCode
) -> None:
    place = succeeded(broker.send_message(topic=topic)).fields["msgId"]
    answer = broker.peer.request(asking(code, group, place=place))
    expect_code(
        "ADMIN-CLIENT-002", answer, ResponseCode.SYSTEM_ERROR, broker.transcript
    )


@pytest.mark.clause("ADMIN-CLIENT-004")
def test_the_message_is_sent_along(broker: Speaker, topic: str, group: str) -> None:
    succeeded(broker.send_message(topic=topic, body=b"so the next is not at offset 0"))
    place = succeeded(broker.send_message(topic=topic, body=b"again")).fields["msgId"]
    record = succeeded(broker.view_message_by_id(place)).body
    code = RequestCode.CONSUME_MESSAGE_DIRECTLY
    with Speaker.connect(broker.address) as client:
        consumer = consumer_data(group=group)
        succeeded(client.heartbeat(client_id=f"client_{group}", consumers=[consumer]))
        broker.peer.send(asking(code, group, place=place))
        heard = client.peer.receive_request(code)
    expect(
        "ADMIN-CLIENT-004",
        found=(heard.body, heard.fields.get("brokerName")),
        expected=(record, "broker-a"),
        what="body and brokerName of the question",
        transcript=client.transcript,
    )


@pytest.mark.clause("ADMIN-CLIENT-005")
def test_nobody_is_asked_about_a_message_that_is_not_there(
    broker: Speaker, group: str
) -> None:
    place = encode_message_id(Host(bytes((127, 0, 0, 1)), 10911), 1 << 40)
    with Speaker.connect(broker.address) as client:
        consumer = consumer_data(group=group)
        succeeded(client.heartbeat(client_id=f"client_{group}", consumers=[consumer]))
        question = asking(RequestCode.CONSUME_MESSAGE_DIRECTLY, group, place=place)
        answer = broker.peer.request(question)
    expect_code(
        "ADMIN-CLIENT-005", answer, ResponseCode.SYSTEM_ERROR, broker.transcript
    )
