"""Allocate strategies: queues of each member, as the Java classes of 4.6.0 do it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.client.message import MessageQueue
from reference.core.client.rebalance.strategies import (
    AllocateStrategy,
    allocate_message_queue_averagely,
    allocate_message_queue_averagely_by_circle,
    allocate_message_queue_by_config,
    allocate_message_queue_by_machine_room,
    allocate_message_queue_consistent_hash,
)

FIXTURES = Path(__file__).parents[4] / "fixtures" / "client"
COMPLETE: tuple[AllocateStrategy, ...] = (
    allocate_message_queue_averagely,
    allocate_message_queue_averagely_by_circle,
    allocate_message_queue_consistent_hash,
)
COUNTS = st.integers(1, 20)
IDS = st.lists(st.uuids().map(str), min_size=2, max_size=8, unique=True)


def recorded(release: str) -> dict[str, Any]:
    text = (FIXTURES / release / "allocations.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def queues(count: int) -> list[MessageQueue]:
    return [MessageQueue("T", "a", number) for number in range(count)]


def members(count: int) -> list[str]:
    return sorted(f"10.0.0.1@{number}" for number in range(count))


RECORDED = recorded("4.6.0")
RULES: dict[str, AllocateStrategy] = {
    "AVG": allocate_message_queue_averagely,
    "AVG_BY_CIRCLE": allocate_message_queue_averagely_by_circle,
    "CONSISTENT_HASH": allocate_message_queue_consistent_hash,
    "MACHINE_ROOM": allocate_message_queue_by_machine_room(RECORDED["rooms"]),
}


@pytest.mark.parametrize("name", RULES)
def test_shares_are_those_of_the_java_class(name: str) -> None:
    cases = [case for case in RECORDED["cases"] if case["rule"] == name]
    assert len(cases) > 30
    for case in cases:
        every = [MessageQueue(RECORDED["topic"], *pair) for pair in case["queues"]]
        for member, places in case["shares"].items():
            assigned = RULES[name](member, every, case["members"])
            assert [every.index(queue) for queue in assigned] == places, (member, case)


def test_only_the_machine_rooms_changed_until_5_3() -> None:
    pairs = zip(RECORDED["cases"], recorded("5.3.3")["cases"], strict=True)
    changed = {old["rule"] for old, new in pairs if old != new}
    assert changed == {"MACHINE_ROOM"}


@pytest.mark.parametrize("allocate", COMPLETE)
@settings(deadline=None)
@given(queue_count=COUNTS, member_count=COUNTS)
def test_every_queue_belongs_to_exactly_one_member(
    allocate: AllocateStrategy, queue_count: int, member_count: int
) -> None:
    every, ids = queues(queue_count), members(member_count)
    shares = [allocate(member, every, ids) for member in ids]
    assert sorted(queue for assigned in shares for queue in assigned) == every
    assert shares == [allocate(member, every, ids) for member in ids]


@pytest.mark.parametrize("allocate", COMPLETE[:2])
@settings(deadline=None)
@given(queue_count=COUNTS, member_count=COUNTS)
def test_shares_differ_by_one_at_most(
    allocate: AllocateStrategy, queue_count: int, member_count: int
) -> None:
    ids = members(member_count)
    sizes = [len(allocate(member, queues(queue_count), ids)) for member in ids]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@settings(deadline=None)
@given(queue_count=COUNTS, ids=IDS)
def test_on_the_ring_only_queues_of_who_leaves_move(
    queue_count: int, ids: Sequence[str]
) -> None:
    allocate, every = allocate_message_queue_consistent_hash, queues(queue_count)
    *stay, _ = ids
    for member in stay:
        assert set(allocate(member, every, ids)) <= set(allocate(member, every, stay))


def test_a_stranger_has_no_share_unless_it_was_told_one() -> None:
    every = queues(4)
    for allocate in RULES.values():
        assert allocate("stranger", every, members(2)) == []
    assert (
        allocate_message_queue_by_config(every[:1])("stranger", every, members(2))
        == every[:1]
    )
