"""Requests of tools that a 4.6.0 broker refuses, and the topic that it counts."""

from __future__ import annotations

import pytest

from reference.tests.broker.broker_driver import BrokerDriver, send_fields
from spec.wire.bodies import fastjson
from spec.wire.remoting.request_code import RequestCode as Code
from spec.wire.remoting.response_code import ResponseCode


@pytest.fixture
def driver() -> BrokerDriver:
    """Return a broker with a connection."""
    driver = BrokerDriver()
    driver.connect(1)
    return driver


@pytest.mark.parametrize("kind", [{}, {"topicFilterType": "BOTH"}])
def test_a_topic_needs_a_filter_type(
    driver: BrokerDriver, kind: dict[str, object]
) -> None:
    fields = {"topic": "T", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6, **kind}
    (response,) = driver.invoke(1, Code.UPDATE_AND_CREATE_TOPIC, fields)
    assert response.code == ResponseCode.SYSTEM_ERROR
    assert "T" not in driver.broker.state.topics.table


def test_a_group_needs_a_name(driver: BrokerDriver) -> None:
    code, body = Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {"group": "g"}
    (response,) = driver.invoke(1, code, {}, fastjson.dumps(body))
    assert response.code == ResponseCode.SYSTEM_ERROR
    assert "" not in driver.broker.state.groups.table


def test_a_delayed_message_counts_for_the_schedule_topic(driver: BrokerDriver) -> None:
    fields = send_fields("T", properties="DELAY\x011\x02")
    driver.invoke(1, Code.SEND_MESSAGE, fields, b"x")
    codes = []
    for topic in ("SCHEDULE_TOPIC_XXXX", "T"):
        key = {"statsName": "TOPIC_PUT_NUMS", "statsKey": topic}
        (response,) = driver.invoke(1, Code.VIEW_BROKER_STATS_DATA, key)
        codes.append(response.code)
    assert codes == [ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR]


def test_a_producer_keeps_the_first_client_id_of_its_connection(
    driver: BrokerDriver,
) -> None:
    for client_id in ("first", "second"):
        beat = {"clientID": client_id, "producerDataSet": [{"groupName": "p"}]}
        driver.invoke(1, Code.HEART_BEAT, {}, fastjson.dumps(beat))
    fields = {"producerGroup": "p"}
    (response,) = driver.invoke(1, Code.GET_PRODUCER_CONNECTION_LIST, fields)
    assert b'"clientId":"first"' in response.body


def test_an_offset_within_a_record_has_no_message(driver: BrokerDriver) -> None:
    driver.invoke(1, Code.SEND_MESSAGE, send_fields("T"), b"x")
    fields = {"offset": 77, "group": "g", "delayLevel": 0, "maxReconsumeTimes": 16}
    (response,) = driver.invoke(1, Code.CONSUMER_SEND_MSG_BACK, fields)
    assert response.remark == "look message by offset failed, 77"
