"""Groups: who is told when members come and go."""

from __future__ import annotations

from reference.tests.broker.making import Stage
from spec.wire import fastjson
from spec.wire.request_code import RequestCode

NOTICE = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED


def heartbeat(client_id: str, *topics: str) -> bytes:
    """Return the body of a heartbeat of a consumer of *topics*."""
    wanted = [{"topic": t, "subString": "*", "subVersion": 1} for t in topics]
    consumer = {
        "groupName": "consumers",
        "consumeType": "CONSUME_PASSIVELY",
        "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
        "subscriptionDataSet": wanted,
    }
    return fastjson.dumps({"clientID": client_id, "consumerDataSet": [consumer]})


def two_members() -> Stage:
    """Return a stage with a group of two, whose mail has been read."""
    stage = Stage()
    for connection in (1, 2):
        stage.connect(connection)
        stage.ask(connection, RequestCode.HEART_BEAT, {}, heartbeat("c", "T"))
    stage.inbox(1)
    stage.inbox(2)
    return stage


def codes(stage: Stage, connection: int) -> list[int]:
    """Return the codes of what has come in."""
    return [command.code for command in stage.inbox(connection)]


def test_a_new_member_is_announced_to_all() -> None:
    stage = two_members()
    stage.connect(3)
    stage.ask(3, RequestCode.HEART_BEAT, {}, heartbeat("c3", "T"))
    assert codes(stage, 1) == [NOTICE]
    assert codes(stage, 2) == [NOTICE]


def test_a_further_heartbeat_is_no_news() -> None:
    stage = two_members()
    stage.ask(1, RequestCode.HEART_BEAT, {}, heartbeat("c", "T"))
    assert codes(stage, 2) == []


def test_another_topic_is_news() -> None:
    stage = two_members()
    stage.ask(1, RequestCode.HEART_BEAT, {}, heartbeat("c", "T", "T2"))
    assert codes(stage, 2) == [NOTICE]


def test_a_lost_connection_is_announced_to_the_rest() -> None:
    stage = two_members()
    stage.disconnect(1)
    assert codes(stage, 2) == [NOTICE]


def test_a_goodbye_is_announced_to_the_rest() -> None:
    stage = two_members()
    leaving = {"clientID": "c", "consumerGroup": "consumers"}
    stage.ask(1, RequestCode.UNREGISTER_CLIENT, leaving)
    assert codes(stage, 2) == [NOTICE]


def test_the_retry_topic_of_the_group_exists_from_the_first_heartbeat_on() -> None:
    assert two_members().broker.topics.get("%RETRY%consumers") is not None
