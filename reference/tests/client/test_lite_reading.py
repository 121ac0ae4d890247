"""How a lite pull consumer pulls ahead, and where: played by hand."""

from __future__ import annotations

import pytest

from reference.core.client.message import MessageQueue
from reference.core.client.remoting.errors import Reason
from reference.tests.client.polling import (
    NOT_FOUND,
    OFFSET_MOVED,
    OTHER,
    QUEUE,
    Polling,
)
from reference.tests.client.reading import offset_of
from spec.wire.remoting.language import Version

COMMIT = 15


def test_it_pulls_ahead_and_waits_when_too_much_waits() -> None:
    polling = Polling(ahead_max=10).assigned()
    polling.find(polling.pull(), 5)
    polling.find(polling.pull(), 6)
    polling.wait(49)
    assert not polling.pulls
    assert polling.poll() == [5]
    polling.wait(1)
    assert offset_of(polling.pull()) == 7


@pytest.mark.parametrize("code", [NOT_FOUND, OFFSET_MOVED])
def test_a_pull_without_messages_goes_on_where_the_broker_says(code: int) -> None:
    polling = Polling().assigned()
    polling.respond_to_pull(polling.pull(), code, 42)
    assert offset_of(polling.pull()) == 42


def test_a_pull_that_fails_is_tried_again_after_a_second() -> None:
    polling = Polling().assigned()
    polling.respond_to_pull(polling.pull(), 1, 0)
    polling.wait(999)
    assert not polling.pulls
    polling.wait(1)
    assert offset_of(polling.pull()) == 5


def test_a_group_that_is_nowhere_waits_until_it_is_told() -> None:
    polling = Polling()
    polling.committed = None
    polling.assigned()
    polling.wait(1000)
    assert not polling.pulls
    polling.committed = 9
    polling.wait(1000)
    assert offset_of(polling.pull()) == 9


def test_a_seek_drops_what_waits_and_pulls_from_there_at_once() -> None:
    polling = Polling(auto_commits=False).assigned()
    polling.find(polling.pull(), 5)
    held = polling.pull()
    call = polling.world.begin(polling.consumer.seek(QUEUE, 50))
    polling.go_on()
    assert polling.world.finished[call] is None
    polling.find(held, 6)
    assert polling.poll() is None
    sought = polling.pull()
    assert (offset_of(sought), polling.pulls) == (50, [])
    polling.world.begin(polling.consumer.commit_polled())
    assert polling.commits() == [(0, "50", False)]


@pytest.mark.parametrize(
    ("queue", "offset", "reason"),
    [
        (QUEUE, 0, Reason.NO_OFFSET),
        (QUEUE, 101, Reason.NO_OFFSET),
        (OTHER, 50, Reason.NOT_ASSIGNED),
    ],
)
def test_a_seek_elsewhere_is_an_error(
    queue: MessageQueue, offset: int, reason: Reason
) -> None:
    polling = Polling().assigned()
    call = polling.world.begin(polling.consumer.seek(queue, offset))
    polling.go_on()
    assert polling.world.error(call).failure.reason is reason
    assert [offset_of(one) for one in polling.pulls] == [5]


def test_a_paused_queue_is_polled_but_not_pulled() -> None:
    polling = Polling().assigned(QUEUE, OTHER)
    first, _second = polling.pulls
    polling.pulls.clear()
    polling.consumer.pause([QUEUE])
    polling.find(first, 5)
    assert polling.poll() == [5]
    polling.wait(1000)
    assert not polling.pulls
    polling.consumer.resume([QUEUE])
    polling.wait(1000)
    assert offset_of(polling.pull()) == 6


def test_who_filters_by_sql_pulls_from_brokers_that_are_known_to_filter_so() -> None:
    polling = Polling()
    now_ms = polling.world.now_ms
    polling.consumer.subscribe("T", "a > 1", expression_type="SQL92")
    polling.wait(1000)  # brokers have answered the first heartbeats
    first, _second = polling.pulls
    polling.pulls.clear()
    sent = first.command.fields
    assert (sent["expressionType"], sent["subVersion"]) == ("SQL92", str(now_ms))
    versions = polling.world.routes.versions
    versions["a:10911"] = Version.V4_1_0_SNAPSHOT - 1
    polling.respond_to_pull(first, NOT_FOUND, 5)
    polling.wait(1000)
    assert not polling.pulls
    versions["a:10911"] = Version.V4_1_0_SNAPSHOT
    polling.wait(1000)
    assert offset_of(polling.pull()) == 5
