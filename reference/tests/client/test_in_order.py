"""Orderly consumption: delivered messages and queue locks."""

from __future__ import annotations

import pytest

from reference.core.client.consumer.orderly import OrderlyPullLoop
from reference.core.client.effects import DeliverMessages
from reference.core.client.remoting.errors import Reason
from reference.tests.client.reading import Reading, offset_of, record
from spec.wire.remoting.request_code import RequestCode

LOCK = RequestCode.LOCK_BATCH_MQ


def begun(*offsets: int, count: int = 1, **options: object) -> Reading:
    """Return a consumer in order that has pulled the messages at *offsets*."""
    reading = Reading(count=count, is_orderly=True, from_first=True, **options)
    reading.start()
    if offsets:
        reading.find(reading.pull(), *(record(offset) for offset in offsets))
    return reading


def handle(reading: Reading, delivery: DeliverMessages, *, fails: bool = False) -> None:
    failed = delivery.messages if fails else ()
    reading.handle(delivery.queue, delivery.messages, failed=failed)


def offsets(reading: Reading) -> list[int]:
    """Return the offsets of what was handed out."""
    found = [one for delivery in reading.delivered() for one in delivery.messages]
    return [one.record.queue_offset for one in found]


def test_one_is_handed_out_at_a_time_and_pulling_goes_on() -> None:
    reading = begun(0, 1)
    (first,) = reading.delivered()
    assert [one.record.queue_offset for one in first.messages] == [0]
    assert offset_of(reading.pull()) == 2
    handle(reading, first)
    assert offsets(reading) == [1]


def test_what_failed_comes_first_again() -> None:
    reading = begun(0, 1)
    (delivery,) = reading.delivered()
    handle(reading, delivery, fails=True)
    reading.world.wait(999)
    assert reading.delivered() == []
    reading.world.wait(1)
    (again,) = reading.delivered()
    assert [one.record.reconsume_times for one in again.messages] == [1]
    assert [one.record.queue_offset for one in again.messages] == [0]
    handle(reading, delivery)
    assert offsets(reading) == [], "the first delivery is not in hand any more"
    handle(reading, again)
    assert offsets(reading) == [1]


@pytest.mark.parametrize(("wait_ms", "handed"), [(30_000, [1]), (30_001, [])])
def test_a_lock_runs_out_that_nobody_confirms(wait_ms: int, handed: list[int]) -> None:
    reading = begun(0, 1)
    (first,) = reading.delivered()
    world = reading.world
    world.now_ms += wait_ms
    pull_loop = reading.consumer.pull_loop
    assert isinstance(pull_loop, OrderlyPullLoop)
    pull_loop.lock_all()
    (sent,) = world.questions()
    world.fail(sent, Reason.TIMEOUT)
    handle(reading, first)
    codes = [one.command.code for one in world.questions()]
    assert codes == ([] if handed else [LOCK])
    assert offsets(reading) == handed


def test_who_broadcasts_keeps_the_order_without_locks() -> None:
    reading = begun(0, 1, broadcasts=True)
    (first,) = reading.delivered()
    reading.world.wait(20_000)
    reading.go_on()
    handle(reading, first)
    assert offsets(reading) == [1]
    assert LOCK not in [one.command.code for one in reading.others]
