"""Offsets of a group's clients by request; clients without a response are left out."""

from __future__ import annotations

from reference.core.broker.admin.broker_requests import RELAY_TIMEOUT_MS
from reference.core.broker.admin.consumer_status import TIMEOUT_MS
from reference.tests.broker.making import Stage
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

STATUS_REQUEST = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
TOOL, FIRST, SECOND = 1, 2, 3


def group_of_two() -> Stage:
    """Return a stage with a tool and two members of a group."""
    stage = Stage()
    stage.connect(TOOL)
    for connection in (FIRST, SECOND):
        stage.connect(connection)
        consumer = {"groupName": "g", "consumeType": "CONSUME_PASSIVELY"}
        beat = {"clientID": f"c{connection}", "consumerDataSet": [consumer]}
        stage.invoke(connection, RequestCode.HEART_BEAT, {}, fastjson.dumps(beat))
        stage.inbox(FIRST)
    return stage


def answer(stage: Stage, connection: int, question: Command, offset: int) -> None:
    """Answer a question of the broker with an offset."""
    table = {"messageQueueTable": {(("queueId", 0), ("topic", "T")): offset}}
    response = Command(
        code=0, opaque=question.opaque, flag=1, body=fastjson.dumps(table)
    )
    stage.hand(connection, encode_command(response))


def reported_offsets(stage: Stage) -> dict[str, list[int]]:
    """Return the offsets that the tool receives, by client."""
    (answer,) = stage.inbox(TOOL)
    found = fastjson.loads(answer.body)
    assert isinstance(found, dict)
    return {name: list(t.values()) for name, t in found["consumerTable"].items()}


def test_a_silent_one_is_left_out() -> None:
    stage = group_of_two()
    stage.invoke(TOOL, STATUS_REQUEST, {"topic": "T", "group": "g"})
    (question,) = stage.inbox(FIRST)
    answer(stage, FIRST, question, 4)
    stage.wait(TIMEOUT_MS - 1)
    assert stage.inbox(TOOL) == []
    stage.wait(1)
    assert reported_offsets(stage) == {"c2": [4]}


def test_an_unreadable_response_keeps_no_other_back() -> None:
    stage = group_of_two()
    stage.invoke(TOOL, STATUS_REQUEST, {"topic": "T", "group": "g"})
    first, second = *stage.inbox(FIRST), *stage.inbox(SECOND)
    answer(stage, FIRST, first, 4)
    bad = Command(code=0, opaque=second.opaque, flag=1, body=b"{")
    stage.hand(SECOND, encode_command(bad))
    assert reported_offsets(stage) == {"c2": [4]}
    assert stage.broker.unfinished_size == 0
    stage.disconnect(SECOND)
    assert stage.broker.unfinished_size == 0


def test_a_member_that_does_not_respond_ends_a_relay_after_10_s() -> None:
    stage = group_of_two()
    fields = {"consumerGroup": "g", "clientId": "c2"}
    stage.invoke(TOOL, RequestCode.GET_CONSUMER_RUNNING_INFO, fields)
    stage.wait(RELAY_TIMEOUT_MS - 1)
    assert stage.inbox(TOOL) == []
    stage.wait(1)
    (response,) = stage.inbox(TOOL)
    assert response.code == ResponseCode.CONSUME_MSG_TIMEOUT
    assert response.remark == "consumer <g> <c2> Timeout: 10000 ms"


def test_names_of_a_relayed_header_are_escaped() -> None:
    stage = group_of_two()
    fields = {"consumerGroup": "g", "clientId": "c2"}
    stage.invoke(TOOL, RequestCode.GET_CONSUMER_RUNNING_INFO, fields)
    (question,) = stage.inbox(FIRST)
    relayed = Command(
        code=0, opaque=question.opaque, flag=1, fields={'a"b': "c"}, serialize_type=1
    )
    stage.hand(FIRST, encode_command(relayed))
    (response,) = stage.inbox(TOOL)
    assert response.fields == {'a"b': "c"}
