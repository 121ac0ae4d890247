"""Queues in turn, the last broker avoided, and the table of faults."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.client.faults import FaultTable, absence_ms
from reference.core.client.queue_choice import Turn, choose, choose_available
from reference.tests.client.making import queues_of

BROKERS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True)


@settings(deadline=None)
@given(names=BROKERS, start=st.integers(0, 2**31 - 9))
def test_every_queue_has_its_turn(names: list[str], start: int) -> None:
    queues, turn = queues_of(*names), Turn(start)
    assert sorted(choose(queues, turn) for _ in queues) == sorted(queues)


@settings(deadline=None)
@given(names=BROKERS, start=st.integers(0, 2**31 - 1))
def test_a_retry_leaves_the_broker_where_there_is_another(
    names: list[str], start: int
) -> None:
    queue = choose(queues_of(*names), Turn(start), last_broker=names[0])
    assert (queue.broker_name == names[0]) == (len(names) == 1)


def test_a_turn_stays_a_java_int() -> None:
    turn = Turn(2**31 - 1)
    assert [turn.take(), turn.take()] == [2**31 - 1, 0]


@pytest.mark.parametrize(
    ("latency_ms", "expected_ms"),
    [
        (0, 0),
        (50, 0),
        (549, 0),
        (550, 30_000),
        (999, 30_000),
        (1000, 60_000),
        (2000, 120_000),
        (3000, 180_000),
        (14_999, 180_000),
        (15_000, 600_000),
    ],
)
def test_a_slow_send_keeps_away_by_the_table(latency_ms: int, expected_ms: int) -> None:
    assert absence_ms(latency_ms) == expected_ms


def test_a_failed_send_keeps_away_for_ten_minutes() -> None:
    assert absence_ms(1, failed=True) == 600_000


def test_a_broker_is_back_at_the_millisecond() -> None:
    faults = FaultTable()
    faults.note("a", 550, now_ms=1000)
    assert not faults.is_available("a", 30_999)
    assert faults.is_available("a", 31_000)
    assert faults.is_available("never heard of", 0)


def test_only_the_last_send_counts() -> None:
    faults = FaultTable()
    faults.note("a", 1, now_ms=0, failed=True)
    faults.note("a", 1, now_ms=0)
    assert faults.is_available("a", 0)


def test_a_new_message_goes_to_an_available_broker() -> None:
    faults, turn, queues = FaultTable(), Turn(), queues_of("a", "b")
    faults.note("a", 1, now_ms=0, failed=True)
    chosen = [choose_available(queues, turn, faults, now_ms=1) for _ in range(8)]
    assert {queue.broker_name for queue in chosen} == {"b"}


def test_a_retry_of_4_6_stays_at_its_broker_while_that_is_available() -> None:
    faults, queues = FaultTable(), queues_of("a", "b")
    found = choose_available(queues, Turn(2), faults, now_ms=1, last_broker="a")
    assert found.broker_name == "a"


def test_where_all_are_away_the_better_half_is_taken_in_turn() -> None:
    faults, queues = FaultTable(), queues_of("a", "b", "c", "d")
    for latency_ms, name in enumerate("abcd", start=1000):
        faults.note(name, latency_ms, now_ms=0)
    turn = Turn()
    chosen = [choose_available(queues, turn, faults, now_ms=1) for _ in range(6)]
    assert {queue.broker_name for queue in chosen} == {"a", "b"}
    assert set(chosen) <= set(queues)


def test_a_bad_broker_that_has_no_queues_is_forgotten() -> None:
    faults, queues = FaultTable(), queues_of("a")
    faults.note("a", 15_000, now_ms=0)
    faults.note("z", 600, now_ms=0)
    assert choose_available(queues, Turn(), faults, now_ms=1).broker_name == "a"
    assert faults.is_available("z", 1)
