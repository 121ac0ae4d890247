"""Under connection faults, the slave's log equals a range of its master's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.core.store.types import GetMessageStatus
from reference.tests.replication.wire import Pair, log_of
from reference.tests.store.small_stores import message

ACTIONS = st.one_of(
    st.tuples(st.just("put"), st.integers(1, 700)),
    st.tuples(st.just("deliver"), st.integers(1, 300)),
    st.tuples(st.just("wait"), st.integers(1, 30_000)),
    st.tuples(st.sampled_from(["cut", "kill", "settle"]), st.just(0)),
)


def act(pair: Pair, action: str, number: int) -> None:
    """Let one thing happen."""
    match action:
        case "put":
            pair.original.append([message(body=b"x" * number)], pair.now_ms)
            pair.original.dispatch()
            pair.grow()
        case "deliver":
            pair.deliver(number)
        case "wait":
            pair.wait(number)
        case "cut":
            pair.cut()
        case "kill":
            pair.kill_slave()
        case _:
            pair.settle()


def check(pair: Pair) -> None:
    """Check that the copy is a stretch of the original, and no client sees more."""
    original, copy = pair.original.log.files, pair.copy.log.files
    begin = max(copy.start, 0)
    stretch = log_of(pair.original)[begin : copy.end]
    assert log_of(pair.copy) == stretch
    assert pair.slaves.replicated <= original.end


@given(actions=st.lists(ACTIONS, max_size=40))
def test_a_copy_is_at_any_time_a_stretch_of_the_original(
    actions: list[tuple[str, int]],
) -> None:
    pair = Pair()
    pair.settle()
    for action, number in actions:
        act(pair, action, number)
        check(pair)
    pair.settle()
    check(pair)
    assert pair.copy.log.files.end == pair.original.log.files.end
    assert pair.slaves.replicated == pair.original.log.files.end
    first = pair.copy.min_offset("T", 0)
    wanted = pair.original.get("T", 0, first, 32)
    found = pair.copy.get("T", 0, first, 32)
    if found.status is GetMessageStatus.FOUND:
        assert [bytes(r) for r in found.records] == [bytes(r) for r in wanted.records]
    assert pair.copy.max_offset("T", 0) in {0, pair.original.max_offset("T", 0)}


@pytest.mark.parametrize(
    ("offset", "size"),
    [(0, -1), (0, 2**31 - 1), (0, 4 * 1024 * 1024), (-1, 5), (1, 5), (1000, 100)],
)
def test_a_piece_that_cannot_be_is_refused_by_its_head(offset: int, size: int) -> None:
    pair = Pair()
    pair.settle()
    head = offset.to_bytes(8, "big", signed=True) + size.to_bytes(4, "big", signed=True)
    pair.send_as_master(head)
    assert len(pair.complaints) == 1, pair.complaints
    assert pair.master.connection is None
    assert pair.copy.log.files.end == 0
    pair.settle()
    assert pair.master.connection is not None


def test_who_names_a_negative_offset_is_hung_up_on() -> None:
    pair = Pair()
    pair.settle()
    pair.to_master += (-1).to_bytes(8, "big", signed=True)
    pair.deliver(8)
    assert len(pair.complaints) == 1
    assert not pair.slaves.connected


def test_a_slave_that_is_ahead_does_not_count() -> None:
    pair = Pair()
    pair.to_master += (10_000).to_bytes(8, "big")
    pair.settle()
    assert pair.slaves.replicated == 0


def test_who_is_far_behind_is_not_waited_for() -> None:
    pair = Pair()
    assert not pair.slaves.is_slave_ok(1)
    pair.settle()
    assert pair.slaves.is_slave_ok(4_999)
    assert not pair.slaves.is_slave_ok(5_000)


def test_puts_that_wait_are_told() -> None:
    pair = Pair()
    pair.settle()
    results: list[bool] = []
    for _ in range(2):
        (result,) = pair.original.append([message()], pair.now_ms)
        end = result.physical_offset + result.size
        pair.slaves.wait(end, now_ms=pair.now_ms, on_done=results.append)
        pair.grow()
        if not results:
            pair.settle()
    pair.wait(5_000)
    assert results == [True, False]
