"""Puts that wait are told in order, each once, and none too early."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from reference.core.store.pending_puts import PendingPuts


@given(
    ends=st.lists(st.integers(1, 1000), unique=True, max_size=30).map(sorted),
    steps=st.lists(st.tuples(st.booleans(), st.integers(0, 1000)), max_size=20),
)
def test_who_waits_is_told_once_and_the_truth(
    ends: list[int], steps: list[tuple[bool, int]]
) -> None:
    told: dict[int, bool] = {}
    waiting = PendingPuts()
    for end in ends:
        # The deadline of a put is its end: as if one byte came each millisecond.
        waiting.wait(end, deadline_ms=end, tell=partial(told.__setitem__, end))
    expected: dict[int, bool] = {}
    for is_there, number in steps:
        (waiting.reached if is_there else waiting.give_up)(number)
        for end in ends:
            if end <= number:
                expected.setdefault(end, is_there)
        assert told == expected
    assert len(waiting) == len(ends) - len(told)
    assert waiting.deadline_ms == min(set(ends) - set(told), default=None)
