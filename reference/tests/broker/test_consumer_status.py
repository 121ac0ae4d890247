"""A group's clients are asked how far they are; who is silent is left out."""

from __future__ import annotations

from reference.core.broker.consumer_status import PATIENCE_MS
from reference.tests.broker.making import Stage
from spec.wire import fastjson
from spec.wire.command import Command, encode_command
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

ASK = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
TOOL, FIRST, SECOND = 1, 2, 3


def group_of_two() -> Stage:
    """Return a stage with a tool and two members of a group."""
    stage = Stage()
    stage.connect(TOOL)
    for connection in (FIRST, SECOND):
        stage.connect(connection)
        consumer = {"groupName": "g", "consumeType": "CONSUME_PASSIVELY"}
        beat = {"clientID": f"c{connection}", "consumerDataSet": [consumer]}
        stage.ask(connection, RequestCode.HEART_BEAT, {}, fastjson.dumps(beat))
        stage.inbox(FIRST)
    return stage


def say(stage: Stage, connection: int, question: Command, offset: int) -> None:
    """Answer a question of the broker with an offset."""
    table = {"messageQueueTable": {(("queueId", 0), ("topic", "T")): offset}}
    answer = Command(code=0, opaque=question.opaque, flag=1, body=fastjson.dumps(table))
    stage.hand(connection, encode_command(answer))


def told(stage: Stage) -> dict[str, list[int]]:
    """Return the offsets that the tool is told, by client."""
    (answer,) = stage.inbox(TOOL)
    found = fastjson.loads(answer.body)
    assert isinstance(found, dict)
    return {name: list(t.values()) for name, t in found["consumerTable"].items()}


def test_all_are_asked_and_then_the_tool_is_answered() -> None:
    stage = group_of_two()
    assert stage.ask(TOOL, ASK, {"topic": "T", "group": "g"}) == []
    for connection, offset in ((FIRST, 4), (SECOND, 5)):
        (question,) = stage.inbox(connection)
        say(stage, connection, question, offset)
    assert told(stage) == {"c2": [4], "c3": [5]}
    stage.wait(PATIENCE_MS)
    assert stage.inbox(TOOL) == []


def test_a_silent_one_is_left_out() -> None:
    stage = group_of_two()
    stage.ask(TOOL, ASK, {"topic": "T", "group": "g"})
    (question,) = stage.inbox(FIRST)
    say(stage, FIRST, question, 4)
    stage.wait(PATIENCE_MS - 1)
    assert stage.inbox(TOOL) == []
    stage.wait(1)
    assert told(stage) == {"c2": [4]}


def test_nobody_is_asked_in_a_group_that_is_not_there() -> None:
    stage = group_of_two()
    (answer,) = stage.ask(TOOL, ASK, {"topic": "T", "group": "other"})
    assert answer.code == ResponseCode.SYSTEM_ERROR
