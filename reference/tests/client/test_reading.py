"""First offsets of a consumer's queues, and its pull requests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.tests.client.reading import COMMIT, Reading, offset_of, record
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


@pytest.mark.parametrize(
    ("committed", "from_first", "expected"),
    [(5, False, 5), (None, False, 9), (None, True, 0)],
)
def test_a_queue_begins_where_the_group_was_or_as_it_is_told(
    committed: int | None, from_first: bool, expected: int
) -> None:
    reading = Reading(from_first=from_first)
    reading.ends["T", 0] = 9
    if committed is not None:
        reading.committed["T", 0] = committed
    reading.start()
    assert offset_of(reading.pull()) == expected


def test_a_queue_begins_at_a_time() -> None:
    reading = Reading(from_time_ms=1234)
    reading.found["T", 0] = 7
    reading.start()
    assert offset_of(reading.pull()) == 7
    assert reading.searched == 1234


def test_it_pulls_ahead_and_commits_what_is_handled() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    assert [one.record.queue_offset for one in delivery.messages] == [0, 1]
    pull = reading.pull()
    assert offset_of(pull) == 2
    assert not int(pull.command.fields["sysFlag"]) & 1
    reading.handle(delivery.queue, delivery.messages[:1])
    reading.find(pull, record(2))
    reading.go_on()
    pull = reading.pull()
    assert pull.command.fields["commitOffset"] == "1"
    assert int(pull.command.fields["sysFlag"]) & 1


def test_it_starts_over_where_the_queue_does() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), record(50))
    (delivery,) = reading.delivered()
    reading.respond_to_pull(reading.pull(), 21, 0)
    reading.go_on()
    reading.find(reading.pull(), record(0), record(0))
    (again,) = reading.delivered()
    reading.handle(again.queue, again.messages)
    reading.handle(delivery.queue, ())
    reading.world.wait(5000)
    reading.go_on()
    (commit,) = reading.sent(COMMIT)
    assert commit.fields["commitOffset"] == "1"


def test_it_waits_while_the_application_is_far_behind() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), *(record(offset) for offset in range(1001)))
    (delivery,) = reading.delivered()
    assert reading.pulls == []
    reading.handle(delivery.queue, delivery.messages[:1])
    reading.world.wait(50)
    reading.go_on()
    assert offset_of(reading.pull()) == 1001


@pytest.mark.parametrize("code", [19, 20, 21])
def test_without_messages_it_goes_on_where_it_is_told(code: int) -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.respond_to_pull(reading.pull(), code, 42)
    assert reading.delivered() == []
    assert offset_of(reading.pull()) == 42


def test_after_an_error_it_pulls_again_in_a_second() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.world.response(reading.pull(), 1)
    reading.world.wait(999)
    reading.go_on()
    assert reading.pulls == []
    reading.world.wait(1)
    reading.go_on()
    assert offset_of(reading.pull()) == 0


def test_a_slave_is_asked_where_it_is_suggested_and_told_no_offset() -> None:
    reading = Reading(from_first=True)
    addresses = {0: "master:1", 1: "slave:1"}
    (data,) = reading.route.broker_datas
    broker = replace(data, addresses=addresses)
    reading.route = replace(reading.route, broker_datas=(broker,))
    reading.start()
    first = reading.pull()
    reading.find(first, record(0), suggested=1)
    reading.go_on()
    second = reading.pull()
    assert (first.address, second.address) == ("master:1", "slave:1")
    assert not int(second.command.fields["sysFlag"]) & 1


def test_a_queue_that_is_gone_is_pulled_no_more() -> None:
    reading = Reading(count=1, from_first=True)
    reading.start()
    pull = reading.pull()
    reading.members = ["aaa", "me"]
    reading.world.receive(
        "a:10911",
        Command(
            code=RequestCode.NOTIFY_CONSUMER_IDS_CHANGED,
            fields={"consumerGroup": "g"},
        ),
    )
    reading.go_on()
    reading.find(pull, record(0))
    assert reading.delivered() == []
    assert reading.pulls == []
