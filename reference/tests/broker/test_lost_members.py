"""Members of consumer groups whose connection is closed."""

from __future__ import annotations

from reference.tests.broker.broker_driver import BrokerDriver
from spec.wire.bodies import fastjson
from spec.wire.remoting.request_code import RequestCode as Code

TOOL, FIRST, SECOND = 1, 2, 3


def group_of_two(driver: BrokerDriver) -> None:
    """Let two clients join a group."""
    driver.connect(TOOL)
    for connection in (FIRST, SECOND):
        driver.connect(connection)
        consumer = {"groupName": "g", "consumeType": "CONSUME_PASSIVELY"}
        beat = {"clientID": f"c{connection}", "consumerDataSet": [consumer]}
        driver.invoke(connection, Code.HEART_BEAT, {}, fastjson.dumps(beat))
        driver.inbox(FIRST)


def test_a_lost_connection_does_not_create_a_deleted_group() -> None:
    driver = BrokerDriver()
    group_of_two(driver)
    driver.invoke(TOOL, Code.DELETE_SUBSCRIPTIONGROUP, {"groupName": "g"})
    assert "g" not in driver.broker.state.groups.table
    driver.disconnect(SECOND)
    assert "g" not in driver.broker.state.groups.table
    assert [one.code for one in driver.inbox(FIRST)] == [
        Code.NOTIFY_CONSUMER_IDS_CHANGED
    ]


def test_a_group_cannot_disable_the_notification_of_a_lost_member() -> None:
    driver = BrokerDriver()
    settings = {"groupName": "g", "notifyConsumerIdsChangedEnable": False}
    driver.connect(TOOL)
    code = Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
    driver.invoke(TOOL, code, {}, fastjson.dumps(settings))
    group_of_two(driver)
    assert driver.inbox(FIRST) == []
    driver.disconnect(SECOND)
    assert [one.code for one in driver.inbox(FIRST)] == [
        Code.NOTIFY_CONSUMER_IDS_CHANGED
    ]
