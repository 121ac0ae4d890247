"""
How large a store's files should be: said by somebody, or seen by the files.

A broker is configured with its files' sizes and does not start on others. Without the
configuration the files have to tell: by the distance of two names, or by the size that
most of them have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reference.core.start.view import StoreView
from reference.core.store.recovery_loading import Entry, is_offset
from spec.store.commit_log import FILE_SIZE_DEFAULT
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE

QUEUE_SIZE_DEFAULT = 6_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Bytes of a file of the commit log, and of a consume queue."""

    commit_log: int
    consume_queue: int


def seen_sizes(view: StoreView) -> Sizes:
    """Return the sizes that the files of a store seem to be meant to have."""
    log = _seen([view.entries(COMMIT_LOG)])
    queues = _seen(list(_queues(view)))
    return Sizes(
        commit_log=log or FILE_SIZE_DEFAULT,
        consume_queue=queues or QUEUE_SIZE_DEFAULT,
    )


def _queues(view: StoreView) -> Iterator[list[Entry]]:
    for topic in view.entries(CONSUME_QUEUE):
        for queue in view.entries(f"{CONSUME_QUEUE}/{topic.name}"):
            yield view.entries(f"{CONSUME_QUEUE}/{topic.name}/{queue.name}")


def _seen(rows: Sequence[Sequence[Entry]]) -> int:
    """Return the size of the files in *rows*, each of which is one directory; or 0."""
    files = [[one for one in row if one.size and is_offset(one.name)] for row in rows]
    votes = Counter(one.size for row in files for one in row)
    distances: Counter[int] = Counter()
    for row in files:
        bases = sorted(int(one.name) for one in row)
        distances.update(after - before for before, after in pairwise(bases))
    for size in distances:
        votes[size] += distances[size]
    return max(votes, key=lambda size: (votes[size], size or 0), default=0) or 0
