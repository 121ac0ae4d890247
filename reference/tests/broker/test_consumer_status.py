"""Offsets of a group's clients by request; clients without a response are left out."""

from __future__ import annotations

from reference.core.broker.admin.broker_requests import (
    RELAY_TIMEOUT_MS,
    STATUS_TIMEOUT_MS,
)
from reference.tests.broker.broker_driver import BrokerDriver
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

STATUS_REQUEST = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
TOOL, FIRST, SECOND = 1, 2, 3


def group_of_two() -> BrokerDriver:
    """Return a driver with a tool and two members of a group."""
    driver = BrokerDriver()
    driver.connect(TOOL)
    for connection in (FIRST, SECOND):
        driver.connect(connection)
        consumer = {"groupName": "g", "consumeType": "CONSUME_PASSIVELY"}
        beat = {"clientID": f"c{connection}", "consumerDataSet": [consumer]}
        driver.invoke(connection, RequestCode.HEART_BEAT, {}, fastjson.dumps(beat))
        driver.inbox(FIRST)
    return driver


def respond(
    driver: BrokerDriver, connection: int, question: Command, offset: int
) -> None:
    """Answer a question of the broker with an offset."""
    table = {"messageQueueTable": {(("queueId", 0), ("topic", "T")): offset}}
    response = Command(
        code=0, opaque=question.opaque, flag=1, body=fastjson.dumps(table)
    )
    driver.hand(connection, encode_command(response))


def reported_offsets(driver: BrokerDriver) -> dict[str, list[int]]:
    """Return the offsets that the tool receives, by client."""
    (response,) = driver.inbox(TOOL)
    found = fastjson.loads(response.body)
    assert isinstance(found, dict)
    return {name: list(t.values()) for name, t in found["consumerTable"].items()}


def test_a_silent_one_is_left_out() -> None:
    driver = group_of_two()
    driver.invoke(TOOL, STATUS_REQUEST, {"topic": "T", "group": "g"})
    (question,) = driver.inbox(FIRST)
    respond(driver, FIRST, question, 4)
    driver.wait(STATUS_TIMEOUT_MS - 1)
    assert driver.inbox(TOOL) == []
    driver.wait(1)
    assert reported_offsets(driver) == {"c2": [4]}


def test_an_unreadable_response_keeps_no_other_back() -> None:
    driver = group_of_two()
    driver.invoke(TOOL, STATUS_REQUEST, {"topic": "T", "group": "g"})
    first, second = *driver.inbox(FIRST), *driver.inbox(SECOND)
    respond(driver, FIRST, first, 4)
    bad = Command(code=0, opaque=second.opaque, flag=1, body=b"{")
    driver.hand(SECOND, encode_command(bad))
    assert reported_offsets(driver) == {"c2": [4]}
    assert driver.broker.unfinished_size == 0
    driver.disconnect(SECOND)
    assert driver.broker.unfinished_size == 0


def test_a_member_that_does_not_respond_ends_a_relay_after_10_s() -> None:
    driver = group_of_two()
    fields = {"consumerGroup": "g", "clientId": "c2"}
    driver.invoke(TOOL, RequestCode.GET_CONSUMER_RUNNING_INFO, fields)
    driver.wait(RELAY_TIMEOUT_MS - 1)
    assert driver.inbox(TOOL) == []
    driver.wait(1)
    (response,) = driver.inbox(TOOL)
    assert response.code == ResponseCode.CONSUME_MSG_TIMEOUT
    assert response.remark == "consumer <g> <c2> Timeout: 10000 ms"


def test_names_of_a_relayed_header_are_escaped() -> None:
    driver = group_of_two()
    fields = {"consumerGroup": "g", "clientId": "c2"}
    driver.invoke(TOOL, RequestCode.GET_CONSUMER_RUNNING_INFO, fields)
    (question,) = driver.inbox(FIRST)
    relayed = Command(
        code=0, opaque=question.opaque, flag=1, fields={'a"b': "c"}, serialize_type=1
    )
    driver.hand(FIRST, encode_command(relayed))
    (response,) = driver.inbox(TOOL)
    assert response.fields == {'a"b': "c"}
