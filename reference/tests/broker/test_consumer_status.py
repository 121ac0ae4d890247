"""A group's clients are asked how far they are; who is silent is left out."""

from __future__ import annotations

from reference.core.broker.admin.consumer_status import TIMEOUT_MS
from reference.tests.broker.making import Stage
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode

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


def test_a_silent_one_is_left_out() -> None:
    stage = group_of_two()
    stage.ask(TOOL, ASK, {"topic": "T", "group": "g"})
    (question,) = stage.inbox(FIRST)
    say(stage, FIRST, question, 4)
    stage.wait(TIMEOUT_MS - 1)
    assert stage.inbox(TOOL) == []
    stage.wait(1)
    assert told(stage) == {"c2": [4]}
