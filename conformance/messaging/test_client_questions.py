"""Questions that an administrator asks a client, by way of the broker."""

from __future__ import annotations

import pytest

from conformance.harness.speaker import Speaker, consumer_data, succeeded
from conformance.harness.verdicts import expect, expect_fields
from spec.wire.command import Command, CommandFlag
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


@pytest.mark.clause("ADMIN-CLIENT-002")
@pytest.mark.parametrize("code", QUESTIONS)
def test_nobody_answers_for_a_client_that_is_not_there(
    broker: Speaker, topic: str, group: str, code: RequestCode
) -> None:
    place = succeeded(broker.send_message(topic=topic)).fields["msgId"]
    answer = broker.peer.request(asking(code, group, place=place))
    expect(
        "ADMIN-CLIENT-002",
        found=answer.code,
        expected=ResponseCode.SYSTEM_ERROR,
        what="code",
        transcript=broker.transcript,
    )
