"""Pulls that wait: what wakes them, and when they are answered at the latest."""

from __future__ import annotations

import pytest

from reference.core.remoting.deadline_timer import WATCH_MAX_MS
from reference.core.remoting.effects import SetTimer
from reference.tests.broker.making import Stage, pull_fields, send_fields
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def waiting(**fields: object) -> Stage:
    """Return a stage with a topic and a pull on connection 2 that waits."""
    stage = Stage()
    stage.connect(1)
    stage.connect(2)
    stage.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    pull = pull_fields("T", offset=1, **fields)
    assert stage.invoke(2, RequestCode.PULL_MESSAGE, pull) == []
    return stage


def test_a_message_that_is_looked_at_and_not_wanted_is_no_read() -> None:
    stage = Stage({"enablePropertyFilter": "true"})
    stage.connect(1)
    stage.connect(2)
    stage.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    pull = pull_fields("T", 1, subscription="a = 1", expressionType="SQL92")
    assert stage.invoke(2, RequestCode.PULL_MESSAGE, pull) == []
    counted = stage.broker.state.store.statistics
    reads = counted.found_count + counted.missed_count
    stage.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    assert stage.inbox(2) == []
    assert counted.found_count + counted.missed_count == reads
    wanted = send_fields("T", properties="a\x011\x02")
    stage.invoke(1, RequestCode.SEND_MESSAGE, wanted)
    (answer,) = stage.inbox(2)
    assert answer.fields["nextBeginOffset"] == "3"


def test_the_shell_is_asked_to_wake_the_broker_in_time() -> None:
    stage = waiting()
    assert SetTimer(stage.now_ms + 1000) in [
        *stage.broker.take_effects(),
        SetTimer(stage.broker.timers.next_at_ms or 0),
    ]


def test_a_lost_connection_takes_its_pulls_along() -> None:
    stage = waiting()
    stage.disconnect(2)
    assert len(stage.broker.long_polling) == 0


def test_answered_pulls_leave_no_timers_behind() -> None:
    stage = waiting(suspendTimeoutMillis=2**62)
    timers = stage.broker.timers
    for number in range(500):
        stage.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
        assert len(stage.inbox(2)) == 1
        pull = pull_fields("T", number + 2, suspendTimeoutMillis=2**62 - number)
        assert stage.invoke(2, RequestCode.PULL_MESSAGE, pull) == []
    assert timers.next_at_ms is not None
    assert timers.next_at_ms <= stage.now_ms + WATCH_MAX_MS
    assert len(timers) < 20


def test_a_far_deadline_is_kept() -> None:
    stage = waiting(suspendTimeoutMillis=3 * WATCH_MAX_MS)
    for _ in range(5):
        stage.wait(WATCH_MAX_MS // 2)
        assert stage.inbox(2) == []
    stage.wait(WATCH_MAX_MS // 2)
    assert [one.code for one in stage.inbox(2)] == [ResponseCode.PULL_NOT_FOUND]


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
    stage = Stage({"enablePropertyFilter": "true"})
    for connection in (1, 2, 3):
        stage.connect(connection)
    stage.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    by_tags = pull_fields("T", 1, consumerGroup="others")
    by_sql = pull_fields("T", 1, subscription=expression, expressionType="SQL92")
    assert stage.invoke(3, RequestCode.PULL_MESSAGE, by_tags) == []
    assert stage.invoke(2, RequestCode.PULL_MESSAGE, by_sql) == []
    properties = f"a\x01{value}\x02b\x011\x02"
    stage.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T", properties=properties))
    assert [one.code for one in stage.inbox(3)] == [0]
    stage.wait(1_000)
    assert len(stage.inbox(2)) == 1
