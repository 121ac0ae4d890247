"""Pulls that wait: what wakes them, and when they are answered at the latest."""

from __future__ import annotations

from reference.core.effects import WakeAt
from reference.tests.broker.making import Stage, pull_fields, send_fields
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode


def waiting(**fields: object) -> Stage:
    """Return a stage with a topic and a pull on connection 2 that waits."""
    stage = Stage()
    stage.connect(1)
    stage.connect(2)
    stage.ask(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    pull = pull_fields("T", offset=1, **fields)
    assert stage.ask(2, RequestCode.PULL_MESSAGE, pull) == []
    return stage


def test_a_pull_at_the_end_waits_and_is_woken_by_a_message() -> None:
    stage = waiting()
    stage.ask(1, RequestCode.SEND_MESSAGE, send_fields("T"), b"news")
    (answer,) = stage.inbox(2)
    assert answer.code == ResponseCode.SUCCESS
    assert b"news" in answer.body
    assert answer.fields["nextBeginOffset"] == "2"


def test_a_message_with_another_tag_does_not_wake_it() -> None:
    stage = waiting(subscription="A")
    other = send_fields("T", properties="TAGS\x01B\x02")
    stage.ask(1, RequestCode.SEND_MESSAGE, other)
    assert stage.inbox(2) == []
    wanted = send_fields("T", properties="TAGS\x01A\x02")
    stage.ask(1, RequestCode.SEND_MESSAGE, wanted)
    (answer,) = stage.inbox(2)
    assert answer.fields["nextBeginOffset"] == "3"


def test_a_message_that_is_looked_at_and_not_wanted_is_no_read() -> None:
    stage = Stage({"enablePropertyFilter": "true"})
    stage.connect(1)
    stage.connect(2)
    stage.ask(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    pull = pull_fields("T", 1, subscription="a = 1", expressionType="SQL92")
    assert stage.ask(2, RequestCode.PULL_MESSAGE, pull) == []
    counted = stage.broker.store.statistics
    reads = counted.found_count + counted.missed_count
    stage.ask(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    assert stage.inbox(2) == []
    assert counted.found_count + counted.missed_count == reads
    wanted = send_fields("T", properties="a\x011\x02")
    stage.ask(1, RequestCode.SEND_MESSAGE, wanted)
    (answer,) = stage.inbox(2)
    assert answer.fields["nextBeginOffset"] == "3"


def test_a_message_in_another_queue_does_not_wake_it() -> None:
    stage = waiting()
    stage.ask(1, RequestCode.SEND_MESSAGE, send_fields("T", queue_id=1))
    assert stage.inbox(2) == []


def test_it_is_answered_when_its_time_is_up_and_not_before() -> None:
    stage = waiting()
    stage.wait(999)
    assert stage.inbox(2) == []
    stage.wait(1)
    (answer,) = stage.inbox(2)
    assert answer.code == ResponseCode.PULL_NOT_FOUND


def test_the_shell_is_asked_to_wake_the_broker_in_time() -> None:
    stage = waiting()
    stage.broker.hold(("T", 0), next(iter(stage.broker.held.all())))
    assert WakeAt(stage.now_ms + 1000) in [
        *stage.broker.take(),
        WakeAt(stage.broker.schedule.next_ms or 0),
    ]


def test_a_lost_connection_takes_its_pulls_along() -> None:
    stage = waiting()
    stage.disconnect(2)
    assert len(stage.broker.held) == 0


def test_a_pull_that_will_not_wait_is_answered_at_once() -> None:
    stage = Stage()
    stage.connect(1)
    stage.ask(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    pull = pull_fields("T", offset=1, sysFlag=4)
    (answer,) = stage.ask(1, RequestCode.PULL_MESSAGE, pull)
    assert answer.code == ResponseCode.PULL_NOT_FOUND
