"""Administrators' requests that the broker relays to a client."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import (
    Client,
    body_of,
    consumer_data,
    json_body,
    require_success,
)
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.targets.shared_target import SharedTarget
from spec.host import Host
from spec.wire.message.message_id import encode_message_id
from spec.wire.remoting.command import Command, CommandFlag
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

QUESTIONS = (
    RequestCode.GET_CONSUMER_RUNNING_INFO,
    RequestCode.CONSUME_MESSAGE_DIRECTLY,
)

NAMES = ("consumerGroup", "clientId")
FIELDS = {
    RequestCode.GET_CONSUMER_RUNNING_INFO: (
        "consumerGroup",
        "clientId",
        "jstackEnable",
    ),
    RequestCode.CONSUME_MESSAGE_DIRECTLY: ("consumerGroup", "clientId", "msgId"),
}
"""Fields that a broker relays as they are."""
QUIET_S = 0.2


def asking(code: RequestCode, group: str, *, place: str) -> Command:
    """Return a question for the client of *group*; *place* names a message."""
    fields = {
        "consumerGroup": group,
        "clientId": f"client_{group}",
        "jstackEnable": "false",
        "msgId": place,
        "brokerName": "another",
    }
    return Command(code=code, fields=fields)


def expect_one_request(clause: str, client: Client, relayed: Command) -> None:
    """Fail *clause* unless *relayed* needs a response and comes once."""
    others = [one.code for one in client.peer.receive_until_silent(QUIET_S)]
    expect(
        clause,
        found=(relayed.is_oneway, others.count(relayed.code)),
        expected=(False, 0),
        what="whether the relayed request is oneway, and how many more came",
        transcript=client.transcript,
    )


@pytest.mark.clause("ADMIN-CLIENT-001")
@pytest.mark.parametrize("code", QUESTIONS)
def test_a_client_is_asked_and_its_response_passed_on(
    broker: Client, topic: str, group: str, code: RequestCode
) -> None:
    place = require_success(broker.send_message(topic=topic)).fields["msgId"]
    with broker.another() as client:
        consumer = consumer_data(group=group)
        require_success(
            client.heartbeat(client_id=f"client_{group}", consumers=[consumer])
        )
        request = broker.peer.send(asking(code, group, place=place))
        relayed = client.peer.receive_request(code)
        names = FIELDS[code]
        expect_fields(
            "ADMIN-CLIENT-001",
            found=relayed.fields,
            expected={name: request.fields[name] for name in names},
            transcript=client.transcript,
        )
        expect_one_request("ADMIN-CLIENT-001", client, relayed)
        client.peer.send(
            Command(
                code=ResponseCode.SUCCESS,
                opaque=relayed.opaque,
                flag=CommandFlag.RESPONSE,
                body=b'{"said":"by the client"}',
            )
        )
        response = broker.peer.receive_response(request.opaque)
    expect(
        "ADMIN-CLIENT-001",
        found=(response.code, response.body),
        expected=(ResponseCode.SUCCESS, b'{"said":"by the client"}'),
        what="code and body of what is passed on",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-CLIENT-003")
@pytest.mark.parametrize("is_named", [False, True])
def test_clients_are_asked_how_far_they_are(
    broker: Client, topic: str, group: str, is_named: bool
) -> None:
    queue = (("brokerName", "broker-a"), ("queueId", 1), ("topic", topic))
    fields = {"topic": topic, "group": group}
    if is_named:
        fields["clientAddr"] = f"client_{group}"
    consumer = consumer_data(group=group)
    with broker.another() as client, broker.another() as other:
        require_success(
            client.heartbeat(client_id=f"client_{group}", consumers=[consumer])
        )
        if is_named:
            require_success(
                other.heartbeat(client_id=f"other_{group}", consumers=[consumer])
            )
        code = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
        request = broker.peer.send(Command(code=code, fields=fields))
        relayed = client.peer.receive_request(
            RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
        )
        expect_one_request("ADMIN-CLIENT-003", client, relayed)
        client.peer.send(
            Command(
                code=ResponseCode.SUCCESS,
                opaque=relayed.opaque,
                flag=CommandFlag.RESPONSE,
                body=json_body({"messageQueueTable": {queue: 7}}),
            )
        )
        response = broker.peer.receive_response(request.opaque)
        others = [one.code for one in other.peer.receive_until_silent(QUIET_S)]
    expect(
        "ADMIN-CLIENT-003",
        found=others.count(RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT),
        expected=0,
        what="requests to a client that clientAddr does not name",
        transcript=broker.transcript,
    )
    found = body_of(response)
    assert isinstance(found, dict)
    offsets = found["consumerTable"][f"client_{group}"]
    expect_fields(
        "ADMIN-CLIENT-003",
        found=relayed.fields,
        expected={"topic": topic, "group": group},
        transcript=broker.transcript,
    )
    expect(
        "ADMIN-CLIENT-003",
        found=(list(found["consumerTable"]), {*offsets}, list(offsets.values())),
        expected=([f"client_{group}"], {queue}, [7]),
        what="clients, and queues and offsets of the client",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-CLIENT-002")
@pytest.mark.parametrize("code", QUESTIONS)
def test_nobody_answers_for_a_client_that_is_not_there(
    broker: Client, topic: str, group: str, code: RequestCode
) -> None:
    place = require_success(broker.send_message(topic=topic)).fields["msgId"]
    response = broker.peer.request(asking(code, group, place=place))
    expect_code(
        "ADMIN-CLIENT-002", response, ResponseCode.SYSTEM_ERROR, broker.transcript
    )


@pytest.mark.parametrize(
    ("clause", "code", "version"),
    [
        pytest.param(
            "ADMIN-CLIENT-006",
            RequestCode.GET_CONSUMER_RUNNING_INFO,
            61,
            marks=pytest.mark.clause("ADMIN-CLIENT-006"),
            id="running info",
        ),
        pytest.param(
            "ADMIN-CLIENT-006",
            RequestCode.CONSUME_MESSAGE_DIRECTLY,
            61,
            marks=pytest.mark.clause("ADMIN-CLIENT-006"),
            id="consume directly",
        ),
        pytest.param(
            "ADMIN-CLIENT-007",
            RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
            27,
            marks=pytest.mark.clause("ADMIN-CLIENT-007"),
            id="consumer status",
        ),
    ],
)
def test_a_client_of_an_old_version_is_not_asked(
    broker: Client,
    topic: str,
    group: str,
    clause: str,
    code: RequestCode,
    version: int,
) -> None:
    place = require_success(broker.send_message(topic=topic)).fields["msgId"]
    heartbeat = {
        "clientID": f"client_{group}",
        "consumerDataSet": [consumer_data(group=group)],
        "producerDataSet": [],
    }
    question = asking(code, group, place=place)
    fields = {**question.fields, "topic": topic, "group": group}
    with broker.another() as client:
        require_success(
            client.peer.request(
                Command(
                    code=RequestCode.HEART_BEAT,
                    version=version,
                    body=json_body(heartbeat),
                )
            )
        )
        response = broker.invoke(code, fields)
    expect_code(clause, response, ResponseCode.SYSTEM_ERROR, broker.transcript)


@pytest.mark.clause("ADMIN-CLIENT-004")
def test_the_message_is_sent_along(
    target: SharedTarget, broker: Client, topic: str, group: str
) -> None:
    require_success(
        broker.send_message(topic=topic, body=b"so the next is not at offset 0")
    )
    place = require_success(broker.send_message(topic=topic, body=b"again")).fields[
        "msgId"
    ]
    record = require_success(broker.view_message_by_id(place)).body
    code = RequestCode.CONSUME_MESSAGE_DIRECTLY
    with broker.another() as client:
        consumer = consumer_data(group=group)
        require_success(
            client.heartbeat(client_id=f"client_{group}", consumers=[consumer])
        )
        broker.peer.send(asking(code, group, place=place))
        relayed = client.peer.receive_request(code)
    expect(
        "ADMIN-CLIENT-004",
        found=(relayed.body, relayed.fields.get("brokerName")),
        expected=(record, target.broker_name),
        what="body and brokerName of the question",
        transcript=client.transcript,
    )


@pytest.mark.clause("ADMIN-CLIENT-005")
def test_nobody_is_asked_about_a_message_that_is_not_there(
    broker: Client, group: str
) -> None:
    place = encode_message_id(Host(bytes((127, 0, 0, 1)), 10911), 1 << 40)
    with broker.another() as client:
        consumer = consumer_data(group=group)
        require_success(
            client.heartbeat(client_id=f"client_{group}", consumers=[consumer])
        )
        question = asking(RequestCode.CONSUME_MESSAGE_DIRECTLY, group, place=place)
        response = broker.peer.request(question)
    expect_code(
        "ADMIN-CLIENT-005", response, ResponseCode.SYSTEM_ERROR, broker.transcript
    )
