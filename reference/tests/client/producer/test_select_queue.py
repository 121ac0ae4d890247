"""Queues in turn, the last broker avoided, and the table of latency_faults."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.client.producer.select_queue import (
    LatencyFaultTolerance,
    RoundRobin,
    not_available_duration_ms,
    select_available_queue,
    select_queue,
)
from reference.tests.client.routes import queues_of

BROKERS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True)


@settings(deadline=None)
@given(names=BROKERS, start=st.integers(0, 2**31 - 9))
def test_every_queue_has_its_turn(names: list[str], start: int) -> None:
    queues, turn = queues_of(*names), RoundRobin(start)
    assert sorted(select_queue(queues, turn) for _ in queues) == sorted(queues)


@settings(deadline=None)
@given(names=BROKERS, start=st.integers(0, 2**31 - 1))
def test_a_retry_leaves_the_broker_where_there_is_another(
    names: list[str], start: int
) -> None:
    queue = select_queue(queues_of(*names), RoundRobin(start), last_broker=names[0])
    assert (queue.broker_name == names[0]) == (len(names) == 1)


def test_a_turn_stays_a_java_int() -> None:
    turn = RoundRobin(2**31 - 1)
    assert [turn.next_index(), turn.next_index()] == [2**31 - 1, 0]


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
    assert not_available_duration_ms(latency_ms) == expected_ms


def test_a_failed_send_keeps_away_for_ten_minutes() -> None:
    assert not_available_duration_ms(1, failed=True) == 600_000


def test_a_broker_is_back_at_the_millisecond() -> None:
    latency_faults = LatencyFaultTolerance()
    latency_faults.update_fault_item("a", 550, now_ms=1000)
    assert not latency_faults.is_available("a", 30_999)
    assert latency_faults.is_available("a", 31_000)
    assert latency_faults.is_available("never heard of", 0)


def test_only_the_last_send_counts() -> None:
    latency_faults = LatencyFaultTolerance()
    latency_faults.update_fault_item("a", 1, now_ms=0, failed=True)
    latency_faults.update_fault_item("a", 1, now_ms=0)
    assert latency_faults.is_available("a", 0)


def test_a_new_message_goes_to_an_available_broker() -> None:
    latency_faults, turn, queues = (
        LatencyFaultTolerance(),
        RoundRobin(),
        queues_of("a", "b"),
    )
    latency_faults.update_fault_item("a", 1, now_ms=0, failed=True)
    chosen = [
        select_available_queue(queues, turn, latency_faults, now_ms=1) for _ in range(8)
    ]
    assert {queue.broker_name for queue in chosen} == {"b"}


def test_a_retry_of_4_6_stays_at_its_broker_while_that_is_available() -> None:
    latency_faults, queues = LatencyFaultTolerance(), queues_of("a", "b")
    found = select_available_queue(
        queues, RoundRobin(2), latency_faults, now_ms=1, last_broker="a"
    )
    assert found.broker_name == "a"


def test_where_all_are_away_the_better_half_is_taken_in_turn() -> None:
    latency_faults, queues = LatencyFaultTolerance(), queues_of("a", "b", "c", "d")
    for latency_ms, name in enumerate("abcd", start=1000):
        latency_faults.update_fault_item(name, latency_ms, now_ms=0)
    turn = RoundRobin()
    chosen = [
        select_available_queue(queues, turn, latency_faults, now_ms=1) for _ in range(6)
    ]
    assert {queue.broker_name for queue in chosen} == {"a", "b"}
    assert set(chosen) <= set(queues)


def test_a_bad_broker_that_has_no_queues_is_forgotten() -> None:
    latency_faults, queues = LatencyFaultTolerance(), queues_of("a")
    latency_faults.update_fault_item("a", 15_000, now_ms=0)
    latency_faults.update_fault_item("z", 600, now_ms=0)
    assert (
        select_available_queue(
            queues, RoundRobin(), latency_faults, now_ms=1
        ).broker_name
        == "a"
    )
    assert latency_faults.is_available("z", 1)
