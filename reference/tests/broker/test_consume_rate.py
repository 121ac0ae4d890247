"""The rate of a group in GET_CONSUME_STATS."""

from __future__ import annotations

from reference.tests.broker.broker_driver import BrokerDriver, send_fields
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.offset_tables import ConsumeStats
from spec.wire.remoting.request_code import RequestCode as Code


def test_a_deleted_topic_does_not_count() -> None:
    driver = BrokerDriver()
    driver.connect(1)
    for topic in ("A", "B"):
        driver.invoke(1, Code.SEND_MESSAGE, send_fields(topic), b"x")
        driver.broker.state.offsets.commit("g", topic, 0, 1)
    assert rate_after_gets(driver, "A", "B") == 0.2
    driver.invoke(1, Code.DELETE_TOPIC_IN_BROKER, {"topic": "B"})
    assert rate_of(driver) == 0.1


def rate_after_gets(driver: BrokerDriver, *topics: str) -> float:
    """Return the rate after one message of each topic in ten seconds."""
    state = driver.broker.state
    for at_ms in (0, 10_000):
        for topic in topics:
            state.statistics.on_get("g", topic, state.store.get(topic, 0, 0, 1))
        state.statistics.sample("minute", driver.now_ms + at_ms)
    return rate_of(driver)


def rate_of(driver: BrokerDriver) -> float:
    (response,) = driver.invoke(1, Code.GET_CONSUME_STATS, {"consumerGroup": "g"})
    return decode_body(ConsumeStats, response.body).consume_tps
