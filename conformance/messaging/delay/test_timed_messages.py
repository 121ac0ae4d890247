"""Timed messages: delivery at any time, and requests about the timer."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_in_time,
    expect_that,
)
from conformance.messaging.delay.timed_messages import LATE_S, LATER_MS, SOON_MS, Timed
from conformance.messaging.stored_messages import mapping_of, record_of
from spec.store.message_record import Record
from spec.store.timer.timer_wheel import decode_timer_checkpoint
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

TIMER_DELAY_MAX_S = 3 * 24 * 3600

CHECKPOINT_BYTES = 56
QUEUE = 2
A_MINUTE_MS = 60_000
FLUSHED_S = 45.0
"""Patience for a flush of the timer, which writes the checkpoint within 15 s."""


@pytest.fixture
def timed(broker: Client, topic: str) -> Timed:
    """Return a new topic for timed messages."""
    return Timed(broker=broker, topic=topic)


def now_at(timed: Timed) -> int:
    """Return the time of the broker, which stores a message in queue 0."""
    return record_of(timed.broker, timed.send(b"clock")).stored_at_ms


def arrived(clause: str, timed: Timed) -> Record:
    """Return the one message of QUEUE; fail *clause* unless it arrives in time."""
    expect_in_time(
        clause,
        lambda: timed.max_offset(QUEUE),
        expected=1,
        what="max offset of the message's queue",
        timeout_s=LATE_S,
        transcript=timed.broker.transcript,
    )
    (found,) = timed.wait_for(1, queue_id=QUEUE)
    return found


@pytest.mark.long
@pytest.mark.clause("DELAY-TIMER-001")
@pytest.mark.parametrize(
    "name", ["TIMER_DELIVER_MS", "TIMER_DELAY_MS", "TIMER_DELAY_SEC"]
)
def test_a_timed_message_arrives_in_time(timed: Timed, name: str) -> None:
    due_ms = now_at(timed) + SOON_MS
    value = {
        "TIMER_DELIVER_MS": due_ms,
        "TIMER_DELAY_MS": SOON_MS,
        "TIMER_DELAY_SEC": SOON_MS // 1_000,
    }[name]
    require_success(timed.send(b"timed", queue_id=QUEUE, **{name: value}))
    found = arrived("DELAY-TIMER-001", timed)
    expect(
        "DELAY-TIMER-001",
        found=(found.topic, found.queue_id, found.body),
        expected=(timed.topic, QUEUE, b"timed"),
        what="topic, queue id and body",
        transcript=timed.broker.transcript,
    )
    expect_that(
        "DELAY-TIMER-001",
        found.stored_at_ms >= due_ms,
        found=found.stored_at_ms,
        expected=f"{due_ms} or later",
        what="store time of the delivered message",
        transcript=timed.broker.transcript,
    )


@pytest.mark.clause("DELAY-TIMER-002")
def test_a_message_of_the_past_is_stored_immediately(timed: Timed) -> None:
    past = now_at(timed) - A_MINUTE_MS
    record = record_of(timed.broker, timed.send(b"past", TIMER_DELIVER_MS=past))
    expect(
        "DELAY-TIMER-002",
        found=(record.topic, record.queue_id),
        expected=(timed.topic, 0),
        what="topic and queue id of the stored message",
        transcript=timed.broker.transcript,
    )


@pytest.mark.clause("DELAY-TIMER-003")
@pytest.mark.settings(timerMaxDelaySec=str(TIMER_DELAY_MAX_S))
def test_a_time_too_far_ahead_is_refused(timed: Timed) -> None:
    for name, value in (
        ("TIMER_DELIVER_MS", now_at(timed) + TIMER_DELAY_MAX_S * 1_000 + A_MINUTE_MS),
        ("TIMER_DELAY_SEC", TIMER_DELAY_MAX_S + 60),
    ):
        expect_illegal("DELAY-TIMER-003", timed, timed.send(b"far", **{name: value}))


@pytest.mark.clause("DELAY-TIMER-004")
def test_a_time_that_is_not_a_number_is_refused(timed: Timed) -> None:
    response = timed.send(b"soon", TIMER_DELIVER_MS="soon")
    expect_illegal("DELAY-TIMER-004", timed, response)


def expect_illegal(clause: str, timed: Timed, response: Command) -> None:
    """Fail *clause* unless *response* refuses an illegal message."""
    expected = ResponseCode.MESSAGE_ILLEGAL
    expect_code(clause, response, expected, timed.broker.transcript)


@pytest.mark.long
@pytest.mark.clause("DELAY-TIMER-005")
def test_a_delay_level_comes_before_a_time(timed: Timed) -> None:
    due_ms = now_at(timed) + LATER_MS
    response = timed.send(b"level", queue_id=QUEUE, DELAY=1, TIMER_DELIVER_MS=due_ms)
    require_success(response)
    found = arrived("DELAY-TIMER-005", timed)
    expect(
        "DELAY-TIMER-005",
        found=decode_properties(found.properties).get("TIMER_DELIVER_MS"),
        expected=None,
        what="TIMER_DELIVER_MS",
        transcript=timed.broker.transcript,
    )


@pytest.mark.long
@pytest.mark.clause("DELAY-TIMER-006", "STORE-TIMERCHECKPOINT-002")
def test_the_checkpoint_grows_with_timed_messages(timed: Timed) -> None:
    def checkpoint() -> bytes:
        response = timed.broker.invoke(RequestCode.GET_TIMER_CHECK_POINT)
        return require_success(response).body

    before = decode_timer_checkpoint(checkpoint()).queue_offset
    expect(
        "STORE-TIMERCHECKPOINT-002",
        found=len(checkpoint()),
        expected=CHECKPOINT_BYTES,
        what="bytes of the body",
        transcript=timed.broker.transcript,
    )
    timed.send_timed(b"counted", delay_ms=LATER_MS)
    expect_in_time(
        "DELAY-TIMER-006",
        lambda: decode_timer_checkpoint(checkpoint()).queue_offset > before,
        expected=True,
        what=f"a queue offset above {before}",
        timeout_s=FLUSHED_S,
        transcript=timed.broker.transcript,
    )


@pytest.mark.long
@pytest.mark.clause("DELAY-METRICS-001")
def test_waiting_messages_are_counted_by_topic(timed: Timed) -> None:
    def waiting() -> object:
        table = mapping_of(timed.broker.invoke(RequestCode.GET_TIMER_METRICS))
        return table["timingCount"].get(timed.topic, {}).get("count")

    for body, delay_ms in ((b"soon", SOON_MS), (b"later", LATER_MS)):
        timed.send_timed(body, delay_ms=delay_ms)
    for count, what in ((2, "both wait"), (1, "the first is delivered")):
        expect_in_time(
            "DELAY-METRICS-001",
            waiting,
            expected=count,
            what=f"count of the topic while {what}",
            timeout_s=LATE_S,
            transcript=timed.broker.transcript,
        )


def switch(timed: Timed, engine: str | None) -> Command:
    """Request another engine of the timer: R for RocksDB, F for files."""
    return timed.broker.invoke(RequestCode.SWITCH_TIMER_ENGINE, {"E_T": engine})


@pytest.mark.long
@pytest.mark.clause("DELAY-ENGINE-001")
def test_the_engine_of_files_delivers(timed: Timed) -> None:
    response = switch(timed, "F")
    transcript = timed.broker.transcript
    expect_code("DELAY-ENGINE-001", response, ResponseCode.SUCCESS, transcript)
    timed.send_timed(b"delivered")
    bodies = [one.body for one in timed.wait_for(1)]
    expect(
        "DELAY-ENGINE-001",
        found=bodies,
        expected=[b"delivered"],
        what="bodies",
        transcript=timed.broker.transcript,
    )


@pytest.mark.clause("DELAY-ENGINE-002")
@pytest.mark.parametrize("engine", ["X", "", None])
def test_an_unknown_engine_is_refused(timed: Timed, engine: str | None) -> None:
    expect_code(
        "DELAY-ENGINE-002",
        switch(timed, engine),
        ResponseCode.INVALID_PARAMETER,
        timed.broker.transcript,
    )


@pytest.mark.clause("DELAY-ENGINE-003")
@pytest.mark.settings(timerUseRocksDB="false")
def test_an_engine_that_was_not_started_is_refused(timed: Timed) -> None:
    expect_code(
        "DELAY-ENGINE-003",
        switch(timed, "R"),
        ResponseCode.INVALID_PARAMETER,
        timed.broker.transcript,
    )
