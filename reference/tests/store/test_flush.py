"""Flush policy, the state after a failed flush, and the order of group commits."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from reference.core.store.flush import (
    PAGE_SIZE,
    FlushPolicy,
    GroupCommitQueue,
    has_enough_dirty_pages,
)
from reference.core.store.mapped.mapped_file_queue import MappedFileQueue
from reference.tests.memory_files import MemoryFile, MemoryFiles

FILE_SIZE = 4 * PAGE_SIZE


class Counting(MemoryFile):
    """A file that notes which of its bytes were written."""

    def __init__(self, size: int, files: MemoryFiles) -> None:
        super().__init__(size, files)
        self.pages: set[int] = set()

    def write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        """Note the pages; write nothing that was not there."""
        assert self.bytes[at : at + len(data)] == data
        self.pages |= set(range(at // PAGE_SIZE, (at + len(data) - 1) // PAGE_SIZE + 1))


def test_the_first_round_is_thorough_and_then_one_now_and_then() -> None:
    policy = FlushPolicy()
    found = [
        policy.least_pages(at, configured=4, full_flush_interval_ms=100)
        for at in range(1000, 1300, 50)
    ]
    assert found == [0, 4, 0, 4, 0, 4]


@given(st.integers(0, 3 * FILE_SIZE), st.integers(0, 3 * FILE_SIZE))
def test_a_round_takes_whole_pages_or_what_a_full_file_has(a: int, b: int) -> None:
    done, written = min(a, b), max(a, b)

    def worth(least_pages: int) -> bool:
        return has_enough_dirty_pages(
            done, written, least_pages=least_pages, file_size=FILE_SIZE
        )

    assert worth(0) is (done < written)
    ends_a_file = done < written and done // FILE_SIZE < written // FILE_SIZE
    fills_pages = written // PAGE_SIZE - done // PAGE_SIZE >= 2
    assert worth(2) is (ends_a_file or fills_pages)


@given(st.integers(0, 3 * FILE_SIZE), st.integers(0, 3 * FILE_SIZE))
def test_what_a_failed_flush_leaves_is_written_again(a: int, b: int) -> None:
    files = MemoryFiles()
    queue = MappedFileQueue(files, "d", FILE_SIZE)
    for _ in range(3):
        queue.add_file()
        queue.append(bytes(range(256)) * (FILE_SIZE // 256))
    mapped = {}
    for base in queue.start_offsets:
        found = queue.file_at(base)
        assert found is not None
        mapped[base] = found[0]
    counting = {base: Counting(FILE_SIZE, files) for base in mapped}
    for base, file in mapped.items():
        counting[base].bytes[:] = file.view
    queue._mapped[:] = counting.values()
    queue.flushed, queue.end = min(a, b), max(a, b)
    queue.write_again()
    wanted = set(range(queue.flushed // PAGE_SIZE, -(-queue.end // PAGE_SIZE)))
    if queue.flushed == queue.end:
        wanted = set()
    written = {
        base // PAGE_SIZE + page
        for base, file in counting.items()
        for page in file.pages
    }
    assert written == wanted


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
