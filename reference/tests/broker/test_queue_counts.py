"""Topics with 2,147,483,647 queues: a refusal or a short pass, and no long work."""

from __future__ import annotations

import pytest

from reference.core.broker.topic.topic_config import QUEUES_SHOWN_MAX
from reference.core.broker.transaction.check import CheckPass, check_transactions
from reference.tests.broker.broker_driver import BrokerDriver, send_fields
from spec.integers import INT32_MAX
from spec.wire.message.topic_names import HALF_TOPIC
from spec.wire.remoting.command import Command
from spec.wire.remoting.frame import FRAME_SIZE_MAX
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

REQUESTS = {
    RequestCode.GET_TOPIC_STATS_INFO: {"topic": "T"},
    RequestCode.GET_CONSUME_STATS: {"consumerGroup": "g", "topic": "T"},
    RequestCode.QUERY_CONSUME_TIME_SPAN: {"topic": "T", "group": "g"},
    RequestCode.GET_BROKER_CONSUME_STATS: {"isOrder": "false"},
}


@pytest.fixture
def driver() -> BrokerDriver:
    """Return a broker with a connection."""
    driver = BrokerDriver()
    driver.connect(1)
    return driver


def create(driver: BrokerDriver, topic: str, count: int) -> None:
    """Create a topic with this number of queues."""
    fields: dict[str, object] = {
        "topic": topic,
        "readQueueNums": count,
        "writeQueueNums": count,
    }
    code = RequestCode.UPDATE_AND_CREATE_TOPIC
    fields |= {"perm": 6, "topicFilterType": "SINGLE_TAG"}
    (response,) = driver.invoke(1, code, fields)
    assert response.code == ResponseCode.SUCCESS


def with_offset(driver: BrokerDriver, code: RequestCode) -> Command:
    """Return the response to a request about a group with an offset in the topic."""
    fields = {"consumerGroup": "g", "topic": "T", "queueId": 0, "commitOffset": 1}
    driver.invoke(1, RequestCode.UPDATE_CONSUMER_OFFSET, fields)
    state = driver.broker.state
    state.groups.find("g", driver.now_ms)
    (response,) = driver.invoke(1, code, REQUESTS[code])
    return response


@pytest.mark.parametrize("code", REQUESTS)
@pytest.mark.parametrize("count", [QUEUES_SHOWN_MAX + 1, INT32_MAX])
def test_more_queues_than_fit_a_frame_are_refused(
    driver: BrokerDriver, code: RequestCode, count: int
) -> None:
    create(driver, "T", count)
    response = with_offset(driver, code)
    remark = f"{count} queues do not fit a response"
    assert (response.code, response.remark) == (ResponseCode.SYSTEM_ERROR, remark)


@pytest.mark.parametrize("code", REQUESTS)
def test_a_refused_number_of_queues_would_not_fit_a_frame(
    driver: BrokerDriver, code: RequestCode
) -> None:
    count = 1_000
    create(driver, "T", count)
    response = with_offset(driver, code)
    assert response.code == ResponseCode.SUCCESS
    assert len(response.body) // count * QUEUES_SHOWN_MAX > FRAME_SIZE_MAX


def test_only_queues_with_half_messages_are_checked(
    driver: BrokerDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(driver, HALF_TOPIC, INT32_MAX)
    for queue_id in (7, 3):
        fields = send_fields(HALF_TOPIC, queue_id)
        driver.invoke(1, RequestCode.SEND_MESSAGE, fields)
    checked: list[int] = []
    monkeypatch.setattr(
        CheckPass, "run", lambda one: checked.append(one._queue_id), raising=True
    )
    broker = driver.broker
    check_transactions(broker.state, broker, driver.now_ms)
    assert checked == [3, 7]
