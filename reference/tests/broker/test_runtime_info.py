"""The table of how a broker is doing, before and after a message and with time."""

from __future__ import annotations

import pytest

from reference.core.broker.admin.runtime_info import readable_size, running_time
from reference.tests.broker.broker_driver import BrokerDriver, send_fields
from spec.wire.bodies import fastjson
from spec.wire.remoting.request_code import RequestCode


def runtime_of(driver: BrokerDriver) -> dict[str, str]:
    """Return the table that the broker answers."""
    (response,) = driver.invoke(1, RequestCode.GET_BROKER_RUNTIME_INFO, {})
    body = fastjson.loads(response.body)
    assert isinstance(body, dict)
    table = body["table"]
    assert isinstance(table, dict)
    return {str(name): str(value) for name, value in table.items()}


def connected() -> BrokerDriver:
    """Return a broker with one connection."""
    driver = BrokerDriver()
    driver.connect(1)
    return driver


def test_a_new_broker_has_nothing_yet() -> None:
    table = runtime_of(connected())
    assert table["putMessageTimesTotal"] == "1"  # never 0: 4.6.0 divides by it
    assert table["putMessageAverageSize"] == "0.0"
    assert table["commitLogDiskRatio"] == "-1.0"
    assert table["earliestMessageTimeStamp"] == "-1"
    assert table["putTps"] == "  "
    assert table["sendThreadPoolQueueSize"] == "0"
    assert table["EndTransactionThreadPoolQueueCapacity"] == "100000"


def test_a_message_is_counted_with_the_size_of_its_record() -> None:
    driver = connected()
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), b"body")
    table = runtime_of(driver)
    assert table["msgPutTotalTodayNow"] == "1"
    assert table["putMessageSizeTotal"] == table["commitLogMaxOffset"]
    assert table["putMessageDistributeTime"].startswith("[<=0ms]:1 [0~10ms]:0 ")


def test_a_pool_has_free_buffers_and_bytes_to_commit() -> None:
    settings = {"transientStorePoolEnable": "true", "transientStorePoolSize": "3"}
    driver = BrokerDriver(settings)
    driver.connect(1)
    assert runtime_of(driver)["remainTransientStoreBufferNumbs"] == "3"
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), b"body")
    table = runtime_of(driver)
    assert table["remainTransientStoreBufferNumbs"] == "1"
    assert table["remainHowManyDataToCommit"] != "0 B"
    assert "remainHowManyDataToCommit" not in runtime_of(connected())


def test_time_makes_rates_and_a_running_time() -> None:
    driver = connected()
    driver.broker.start([], driver.now_ms)
    for _ in range(12):
        driver.wait(1000)
    table = runtime_of(driver)
    assert table["putTps"] == "0.0  "
    assert table["runtime"] == "[ 0 days, 0 hours, 0 minutes, 12 seconds ]"


def test_a_running_time_has_days_hours_minutes_and_seconds() -> None:
    duration_ms = ((2 * 24 + 3) * 60 + 4) * 60_000 + 5_999
    assert running_time(duration_ms) == "[ 2 days, 3 hours, 4 minutes, 5 seconds ]"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536 * 1024, "1.5 MiB"),
        (3 * 2**30, "3.0 GiB"),
        (2**60, "1.0 EiB"),
    ],
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert readable_size(size) == text
