"""Group commit requests complete in order, each once, and none too early."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from reference.core.store.flush import GroupCommitQueue


@given(
    ends=st.lists(st.integers(1, 1000), unique=True, max_size=30).map(sorted),
    steps=st.lists(st.tuples(st.booleans(), st.integers(0, 1000)), max_size=20),
)
def test_each_request_completes_once_with_its_result(
    ends: list[int], steps: list[tuple[bool, int]]
) -> None:
    results: dict[int, bool] = {}
    queue = GroupCommitQueue()
    for end in ends:
        # The deadline of a put is its end: as if one byte came each millisecond.
        queue.put(end, deadline_ms=end, on_commit=partial(results.__setitem__, end))
    expected: dict[int, bool] = {}
    for is_commit, number in steps:
        (queue.commit if is_commit else queue.expire)(number)
        for end in ends:
            if end <= number:
                expected.setdefault(end, is_commit)
        assert results == expected
    assert len(queue) == len(ends) - len(results)
    assert queue.deadline_ms == min(set(ends) - set(results), default=None)
