"""
What the everyday records of a window sum up to, the others left for a closer look.

Most records of most stores are alike: nothing is set aside or compressed, the topic is
known, properties are in order, and every check holds. A kernel goes through such a
record once and is done with it. Whatever may be otherwise about one, it is left to who
looks at columns; so nothing is judged here, and no record has two judges. Without the
kernel all records are left.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from spark_checks.sources.aside_columns import is_own_topic
from spark_checks.sources.gather import Ints
from spark_checks.sources.key_hashes import prefixes_of
from spark_checks.sources.record_scan import Window
from spark_checks.sources.sums import Queues
from spark_checks.sources.twofold import Twofold
from spark_checks.sources.words import WORD, text_hashes
from spec.integers import INT64_MIN

TOPICS_MAX = 4096
"""Topics that are known at once; records of more are left."""
SLOTS = 4 * TOPICS_MAX
"""Places of the table in which a topic is looked for; a power of two."""
SLOT_SHIFT = 32
"""The bits of a hash below it do not say in which."""
QUEUES_MAX = 64
"""Records of queues with higher numbers are left."""
STATES_MAX = 4
"""Kinds of stores that one process remembers topics of."""


class KnownTopics:
    """The topics of which everyday records are, found by what stands in a record."""

    def __init__(self, other_topics: Set[str]) -> None:
        self._other_topics = other_topics
        self._seen: set[bytes] = set()
        self.names: list[str] = []
        self.text = np.zeros(WORD, dtype=np.uint8)
        """The names end to end; none begins in the first eight bytes."""
        self.places: npt.NDArray[np.int64] = np.zeros((2, 0), dtype=np.int64)
        """Where in *text* names begin, and how many bytes they have."""
        self.prefixes: npt.NDArray[np.uint32] = np.zeros((0, 2), dtype=np.uint32)
        """The hashes of what stands before a key of a topic, and before a tag."""
        self.slots = np.full(SLOTS, -1, dtype=np.int64)
        """The number of the topic whose hash leads there, or to a place before it."""
        self.groups = np.full(0, -1, dtype=np.int32)
        """A place for each queue, where a kernel keeps what it has; else negative."""

    def learn(self, names: Sequence[bytes]) -> None:
        """Know *names* from now on, those that may be of everyday records."""
        new = [name for name in names if name not in self._seen]
        if not new or len(self._seen) + len(new) > TOPICS_MAX:
            return
        self._seen.update(new)
        self._know([name for name in new if self._is_everyday(name)])

    def _is_everyday(self, name: bytes) -> bool:
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
        slot = first_slot(code)
        while self.slots[slot] >= 0:
            slot = (slot + 1) % SLOTS
        self.slots[slot] = number


def first_slot(code: int) -> int:
    """Return the slot in which a topic with the hash *code* is looked for first."""
    return (code >> SLOT_SHIFT) % SLOTS


@lru_cache(maxsize=STATES_MAX)
def known_topics(other_topics: frozenset[str]) -> KnownTopics:
    """Return what this process knows of stores that have such *other_topics*."""
    return KnownTopics(other_topics)


@dataclass(slots=True, kw_only=True)
class Everyday:
    """What the everyday records of a window sum up to."""

    left: Ints
    """Where in the window's data the other records begin."""
    records: Queues = field(default_factory=dict)
    log_end: int = -1
    last_ms: int = INT64_MIN
    key_sums: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What must be known of a window to say whether its records are everyday ones."""

    offset: int
    """The commit-log offset of the first byte of its data."""
    begun_at_ms: int | None
    """When the first record of its file was stored, if that can be said."""
    ranges: npt.NDArray[np.int64]
    """Rows of two: keys of records behind the first, up to the second, are summed."""


@Twofold
def everyday_of(window: Window, place: Place, known: KnownTopics) -> Everyday:  # noqa: ARG001 # its twin's
    """Return what the everyday records of *window* sum up to, and where others are."""
    return Everyday(left=window.starts)
