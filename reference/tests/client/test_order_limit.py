"""Orderly consumption: a message that fails up to the limit of attempts."""

from __future__ import annotations

import pytest

from reference.core.client.effects import DeliverMessages
from reference.tests.client.reading import SEND, Reading, record
from spec.wire.message.properties import decode_properties

RETRIES = 1


def begun(*offsets: int) -> Reading:
    """Return a consumer in order that has the messages at *offsets*."""
    reading = Reading(is_orderly=True, from_first=True, retries_max=RETRIES)
    reading.start()
    reading.find(reading.pull(), *(record(offset) for offset in offsets))
    return reading


def fail(reading: Reading) -> None:
    """Let the first of what was delivered fail, and time pass."""
    (delivery,) = reading.delivered()
    messages = delivery.messages
    reading.handle(delivery.queue, messages, failed=messages)
    reading.go_on()
    reading.world.wait(1000)


def properties_of_sends(reading: Reading) -> list[dict[str, str]]:
    """Return the properties of the messages that were sent."""
    return [decode_properties(one.fields["i"]) for one in reading.sent(SEND)]


def places(delivery: DeliverMessages) -> list[tuple[int, int]]:
    """Return the offsets of messages, and how often they have failed."""
    records = [one.record for one in delivery.messages]
    return [(one.queue_offset, one.reconsume_times) for one in records]


def test_only_the_first_has_failed_once_more() -> None:
    reading = begun(0, 1)
    fail(reading)
    (again,) = reading.delivered()
    assert places(again) == [(0, 1)]
    reading.handle(again.queue, again.messages)
    (behind,) = reading.delivered()
    assert places(behind) == [(1, 0)]


def test_what_failed_too_often_is_sent_to_the_retry_topic_and_the_rest_goes_on() -> (
    None
):
    reading = begun(0, 1)
    fail(reading)
    reading.world.routes.table["%RETRY%g"] = reading.route
    fail(reading)
    (sent,) = properties_of_sends(reading)
    assert (sent["RECONSUME_TIME"], sent["MAX_RECONSUME_TIMES"]) == ("1", "1")
    assert (sent["RETRY_TOPIC"], sent["DELAY"]) == ("T", "4")
    (behind,) = reading.delivered()
    assert places(behind) == [(1, 0)]
    reading.handle(behind.queue, behind.messages)
    assert reading.consumer.pull_loop.offsets()[behind.queue] == 2


@pytest.mark.parametrize("refuses", [{SEND}, set()])
def test_what_cannot_be_sent_is_handled_again(refuses: set[int]) -> None:
    reading = begun(0)
    fail(reading)
    reading.refuses = refuses
    if refuses:
        reading.world.routes.table["%RETRY%g"] = reading.route
    fail(reading)
    (again,) = reading.delivered()
    assert places(again) == [(0, 2)]
