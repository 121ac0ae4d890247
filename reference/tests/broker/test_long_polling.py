"""Pulls that wait: what wakes them, and when they are answered at the latest."""

from __future__ import annotations

from reference.core.remoting.effects import SetTimer
from reference.tests.broker.making import Stage, pull_fields, send_fields
from spec.wire.remoting.request_code import RequestCode


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
