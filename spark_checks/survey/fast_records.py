"""
Fast path of the survey: sums of records with nothing special about them.

Most records of most stores are alike: no system topic, no compression, a known topic,
well-formed properties, and every check holds. A kernel reads such a record once. Any
other record is left to the column checks, so that each record is validated in one
place. Without the kernel all records are left.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated
from columns.gather import Ints
from columns.key_hashes import prefixes_of
from columns.uint64_words import WORD, text_hashes
from spark_checks.columns.record_scan import FileRange, Window
from spark_checks.counting_rules import is_own_topic
from spark_checks.survey.summary import SurveySummary

TOPICS_MAX = 4096
"""Topics in the table; records of further topics are left."""
SLOTS = 4 * TOPICS_MAX
"""Slots of the hash table of topics; a power of two."""
SLOT_SHIFT = 32
"""Bits of a hash to drop before it selects a slot."""
QUEUES_MAX = 64
"""Records of queue ids from here on are left."""
STORES_MAX = 4
"""Cached tables of topics in one process."""


class KnownTopics:
    """Hash table of topics whose records may take the fast path."""

    def __init__(self, other_topics: Set[str]) -> None:
        self._other_topics = other_topics
        self._learned: set[bytes] = set()
        self.names: list[str] = []
        self.text = np.zeros(WORD, dtype=np.uint8)
        """Names end to end; none begins in the first eight bytes."""
        self.places: npt.NDArray[np.int64] = np.zeros((2, 0), dtype=np.int64)
        """Begin and size of each name in *text*."""
        self.prefixes: npt.NDArray[np.uint32] = np.zeros((0, 2), dtype=np.uint32)
        """Hashes of the prefixes of a topic's keys and tags."""
        self.slots = np.full(SLOTS, -1, dtype=np.int64)
        """Topic number in each slot, or -1; open addressing."""
        self.groups = np.full(0, -1, dtype=np.int32)
        """Scratch row of each queue in a kernel; negative if unused."""

    def learn(self, names: Sequence[bytes]) -> None:
        """Add *names* that may take the fast path."""
        new = [name for name in names if name not in self._learned]
        if not new or len(self._learned) + len(new) > TOPICS_MAX:
            return
        self._learned.update(new)
        self._know([name for name in new if self._is_fast_path(name)])

    def _is_fast_path(self, name: bytes) -> bool:
        text = name.decode("ascii", "replace")
        return name.isascii() and not (
            not name or is_own_topic(text) or text in self._other_topics
        )

    def _know(self, names: Sequence[bytes]) -> None:
        first = len(self.names)
        sizes = np.array([len(name) for name in names], dtype=np.int64)
        begins = len(self.text) + np.cumsum(sizes) - sizes
        text = self.text.tobytes() + b"".join(names)
        for number, code in enumerate(text_hashes(text, (begins, sizes)), first):
            self._place(number, int(code) & 0xFFFFFFFFFFFFFFFF)
        self.names += [name.decode() for name in names]
        self.text = np.frombuffer(text, dtype=np.uint8)
        self.places = np.hstack([self.places, [begins, sizes]])
        more = np.array([prefixes_of(name) for name in names], dtype=np.uint32)
        self.prefixes = np.vstack([self.prefixes, more.reshape(-1, 2)])
        self.groups = np.full(len(self.names) * QUEUES_MAX, -1, dtype=np.int32)

    def _place(self, number: int, code: int) -> None:
        slot = (code >> SLOT_SHIFT) % SLOTS
        while self.slots[slot] >= 0:
            slot = (slot + 1) % SLOTS
        self.slots[slot] = number


@lru_cache(maxsize=STORES_MAX)
def known_topics(other_topics: frozenset[str]) -> KnownTopics:
    """Return this process's table for stores with these *other_topics*."""
    return KnownTopics(other_topics)


@Accelerated
def sum_fast_records(
    window: Window,
    where: FileRange,  # noqa: ARG001 # the kernel's, as all below
    known: KnownTopics,  # noqa: ARG001
    *,
    begun_at_ms: int | None,  # noqa: ARG001
    ranges: Ints,  # noqa: ARG001
) -> tuple[Ints, SurveySummary]:
    """Return the other starts of *window*, and the sums of its fast-path records.

    Its file began at *begun_at_ms*, if that is known. Keys are summed up in *ranges*.
    """
    return window.starts, SurveySummary()
