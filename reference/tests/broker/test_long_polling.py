"""Pulls that wait: what wakes them, and when they are answered at the latest."""

from __future__ import annotations

import pytest

from reference.core.remoting.effects import SetTimer
from reference.core.remoting.timers import WATCH_MAX_MS
from reference.tests.broker.broker_driver import BrokerDriver, pull_fields, send_fields
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def waiting(**fields: object) -> BrokerDriver:
    """Return a driver with a topic and a pull on connection 2 that waits."""
    driver = BrokerDriver()
    driver.connect(1)
    driver.connect(2)
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    pull = pull_fields("T", offset=1, **fields)
    assert driver.invoke(2, RequestCode.PULL_MESSAGE, pull) == []
    return driver


def test_a_message_that_is_looked_at_and_not_wanted_is_no_read() -> None:
    driver = BrokerDriver({"enablePropertyFilter": "true"})
    driver.connect(1)
    driver.connect(2)
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    pull = pull_fields("T", 1, subscription="a = 1", expressionType="SQL92")
    assert driver.invoke(2, RequestCode.PULL_MESSAGE, pull) == []
    counted = driver.broker.state.store.statistics
    reads = counted.found_count + counted.missed_count
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    assert driver.inbox(2) == []
    assert counted.found_count + counted.missed_count == reads
    wanted = send_fields("T", properties="a\x011\x02")
    driver.invoke(1, RequestCode.SEND_MESSAGE, wanted)
    (response,) = driver.inbox(2)
    assert response.fields["nextBeginOffset"] == "3"


def test_the_shell_is_asked_to_wake_the_broker_in_time() -> None:
    driver = waiting()
    assert SetTimer(driver.now_ms + 1000) in [
        *driver.broker.take_effects(),
        SetTimer(driver.broker.timers.next_at_ms or 0),
    ]


def test_a_lost_connection_takes_its_pulls_along() -> None:
    driver = waiting()
    driver.disconnect(2)
    assert len(driver.broker.long_polling) == 0


def test_answered_pulls_leave_no_timers_behind() -> None:
    driver = waiting(suspendTimeoutMillis=2**62)
    timers = driver.broker.timers
    for number in range(500):
        driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
        assert len(driver.inbox(2)) == 1
        pull = pull_fields("T", number + 2, suspendTimeoutMillis=2**62 - number)
        assert driver.invoke(2, RequestCode.PULL_MESSAGE, pull) == []
    assert timers.next_at_ms is not None
    assert timers.next_at_ms <= driver.now_ms + WATCH_MAX_MS
    assert len(timers) < 20


def test_a_far_deadline_is_kept() -> None:
    driver = waiting(suspendTimeoutMillis=3 * WATCH_MAX_MS)
    for _ in range(5):
        driver.wait(WATCH_MAX_MS // 2)
        assert driver.inbox(2) == []
    driver.wait(WATCH_MAX_MS // 2)
    assert [one.code for one in driver.inbox(2)] == [ResponseCode.PULL_NOT_FOUND]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a > 1.5", "0x1p99999"),
        ("a = 5", "9" * 5000),
        ("a" + " = b" * 1500, "1"),
    ],
)
def test_a_message_that_no_filter_can_decide_stops_no_other_group(
    expression: str, value: str
) -> None:
    driver = BrokerDriver({"enablePropertyFilter": "true"})
    for connection in (1, 2, 3):
        driver.connect(connection)
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    by_tags = pull_fields("T", 1, consumerGroup="others")
    by_sql = pull_fields("T", 1, subscription=expression, expressionType="SQL92")
    assert driver.invoke(3, RequestCode.PULL_MESSAGE, by_tags) == []
    assert driver.invoke(2, RequestCode.PULL_MESSAGE, by_sql) == []
    properties = f"a\x01{value}\x02b\x011\x02"
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T", properties=properties))
    assert [one.code for one in driver.inbox(3)] == [0]
    driver.wait(1_000)
    assert len(driver.inbox(2)) == 1
