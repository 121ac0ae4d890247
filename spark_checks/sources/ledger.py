"""
What a broker set aside and what came of it, as a few numbers for each record.

Half messages, commits, notes, delayed messages and what arrived: of each there is a row
of numbers, texts boiled down to hashes. Where all of them balance, nobody needs the
records themselves (:mod:`spark_checks.balance`). What does not fit into this picture,
because its properties can be read in two ways or because there is too much of it, is
only said to be odd: then the records are read again and compared by Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from spark_checks.sources.aside_columns import NOTE_SIZE_MAX, POPPED_AT, is_own_topic
from spark_checks.sources.gather import Ints, Places
from spark_checks.sources.record_columns import RecordColumns
from spark_checks.sources.record_properties import Properties, places_once
from spark_checks.sources.spark_hash import hash_of_longs
from spark_checks.sources.sums import Asked, Bools, is_commit
from spark_checks.sources.topics import Topics
from spark_checks.sources.twofold import Twofold
from spark_checks.sources.words import WORD, text_hashes
from spec.store.message_record import SystemFlag
from spec.store.timer_log import TIMER_TOPIC
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.groups import DEAD_LETTER_PREFIX, RETRY_PREFIX
from spec.wire.properties import Property
from spec.wire.transactions import HALF_TOPIC, OPERATIONS_TOPIC

ROWS_MAX: Final = 2_000_000
"""Rows of a ledger; of more, Spark compares the records."""
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "halves": ("offset", "queue_id", "number", "stored_at_ms", "message", "key"),
    "commits": ("offset", "half_at", "message", "key"),
    "notes": ("offset", "queue_id", "number"),
    "waiting": ("message", "offset", "queue_id", "number", "due_ms"),
    "arrived": ("message", "offset", "stored_at_ms"),
}
"""What a row has. ``message`` and ``key`` are hashes, ``number`` is a queue offset."""
LATER_TOPICS: Final = (SCHEDULE_TOPIC, TIMER_TOPIC)
"""Topics in which what was committed waits first."""
_ROLLBACK = int(SystemFlag.TRANSACTION_ROLLBACK)
_PREPARED = int(SystemFlag.TRANSACTION_PREPARED)
_NAMES = tuple(
    str(name).encode()
    for name in (
        Property.REAL_TOPIC,
        Property.REAL_QID,
        Property.UNIQ_KEY,
        Property.ORIGIN_MESSAGE_ID,
        Property.RETRY_TOPIC,
        POPPED_AT,
    )
)
_REAL_TOPIC, _REAL_QUEUE, _UNIQUE_KEY, _ORIGIN, _RETRY_TOPIC, _POPPED_AT = _NAMES
DIGITS_MAX: Final = 18
"""Of a queue offset in a note."""
NOTHING = -1
"""The hash, and the queue, of what is not said."""
QUEUE_DIGITS_MAX: Final = 9
ID_SIZES: Final = (32, 56)
"""With an address of version 4 or 6, in hexadecimal digits."""
_queue_number = re.compile(rb"[0-9]{1,%d}" % QUEUE_DIGITS_MAX)
_id = re.compile(b"|".join(rb"[0-9A-Fa-f]{%d}" % size for size in ID_SIZES))

Rows = dict[str, list[tuple[Ints, ...]]]


@dataclass(slots=True, kw_only=True)
class Ledger:
    """The rows of a store, or of a part of one."""

    rows: Rows = field(default_factory=dict)
    """By the names of COLUMNS, in pieces."""
    is_odd: bool = False
    """Something was seen that rows cannot tell, or there are too many."""
    bad_returns: int = 0
    """Messages handed back, and dead letters, that may not say of what."""

    def plus(self, other: Ledger) -> Ledger:
        """Return the ledger of both parts."""
        rows = {
            name: [*self.rows.get(name, ()), *other.rows.get(name, ())]
            for name in {**self.rows, **other.rows}
        }
        is_odd = self.is_odd or other.is_odd or count_of(rows) > ROWS_MAX
        return Ledger(
            rows={} if is_odd else rows,
            is_odd=is_odd,
            bad_returns=self.bad_returns + other.bad_returns,
        )

    def table(self, name: str) -> dict[str, Ints]:
        """Return the columns of the rows of that *name*."""
        pieces = self.rows.get(name) or [
            tuple(np.zeros(0, dtype=np.int64) for _ in COLUMNS[name])
        ]
        columns = (np.concatenate(column) for column in zip(*pieces, strict=True))
        return dict(zip(COLUMNS[name], columns, strict=True))


def count_of(rows: Rows) -> int:
    """Return how many *rows* there are."""
    return sum(len(piece[0]) for pieces in rows.values() for piece in pieces)


def entries_of(
    data: bytes, columns: RecordColumns, kept: Ints, *, base: int, asked: Asked
) -> Ledger:
    """Return the rows of the *kept* ones of records in a window of the file at *base*.

    *data* is the window's.
    """
    chosen = _chosen(columns, kept)
    if not len(chosen):
        return Ledger()
    split = columns.split.only(chosen)
    values = places_once(split, _NAMES, len(chosen))
    if values is None or not _can_be_told(columns.topics, split):
        return Ledger(is_odd=True)
    stage = Stage(columns, chosen, (split.text, values), base=base)
    notes = _notes(data, stage)
    is_old = stage.is_prepared & ~stage.is_in(HALF_TOPIC)  # as before 4.3
    is_lost = stage.is_waiting & (stage.real_queue == NOTHING)
    if notes is None or is_old.any() or is_lost.any():
        return Ledger(is_odd=True)
    rows = {
        "halves": _halves(stage),
        "commits": _commits(stage, asked.min_offset),
        "notes": notes,
        "waiting": _waiting(stage),
        "arrived": _arrived(stage),
    }
    return Ledger(
        rows={name: [made] for name, made in rows.items() if len(made[0])},
        bad_returns=_bad_returns(stage),
    )


def _chosen(columns: RecordColumns, kept: Ints) -> Ints:
    """Return which of the *kept* records a broker set aside, or brought back."""
    chosen = columns.fixed["system_flags"] & _ROLLBACK
    is_chosen = (chosen != 0) & (chosen != _ROLLBACK)
    is_chosen[columns.split.record[columns.split.having(_REAL_TOPIC)]] = True
    names = [name.decode("utf-8", "replace") for name in columns.topics.names]
    are_own = np.array([is_own_topic(name) for name in names], dtype=np.bool_)
    is_chosen |= are_own[columns.topics.numbers]
    found: Ints = kept[is_chosen[kept]]
    return found


def _can_be_told(topics: Topics, split: Properties) -> bool:
    """Return whether *topics* and properties can be read in one way only."""
    if not split.is_regular or len(split.broken):
        return False
    try:
        b"".join(topics.names).decode()
    except UnicodeDecodeError:
        return False
    return split.is_utf8()


class Stage:
    """Columns of the chosen records of a window, texts as hashes."""

    def __init__(
        self,
        columns: RecordColumns,
        chosen: Ints,
        properties: tuple[bytes, Places],
        *,
        base: int,
    ) -> None:
        """Of *properties*, there are the text and where the values of _NAMES are."""
        self._columns = columns
        self._text, self._values = properties
        self.chosen = chosen
        self.offset: Ints = columns.fixed["position"][chosen] + base
        self.names = [name.decode() for name in columns.topics.names]
        self._numbers = columns.topics.numbers[chosen]
        self.topic: Ints = _hashes_of(columns.topics.names)[self._numbers]
        self.real_topic = self.hashed(_REAL_TOPIC)
        self.unique_key = self.hashed(_UNIQUE_KEY)
        self.origin = self.hashed(_ORIGIN)
        self.real_queue = np.full(len(chosen), NOTHING)
        index, values = self.places(_REAL_QUEUE)
        self.real_queue[index] = queue_numbers(self._text, values)
        flags = self.number("system_flags")
        self.is_prepared: Bools = flags & _ROLLBACK == _PREPARED
        self.is_commit = is_commit(flags)
        half = self.real_topic == _hash_of(HALF_TOPIC)
        has_real = self.real_topic != NOTHING
        self.is_waiting: Bools = self.is_in(SCHEDULE_TOPIC) & has_real & ~half

    def number(self, name: str) -> Ints:
        """Return a number that each record has in the layout."""
        return self._columns.found.numbers[name][self.chosen].astype(np.int64)

    def body_size(self) -> Ints:
        """Return how many bytes each body has."""
        return self._columns.found.places["body"][1][self.chosen]

    def bodies(self, which: Ints) -> Places:
        """Return where the bodies of *which* records are."""
        begins, sizes = self._columns.found.places["body"]
        return begins[self.chosen[which]], sizes[self.chosen[which]]

    def due_ms(self) -> Ints:
        """Return when each delayed message is due, which its unit must say too."""
        return self._columns.tags_codes[self.chosen]

    def is_in(self, *topics: str) -> Bools:
        """Return which records are in one of *topics*."""
        return np.array([name in topics for name in self.names])[self._numbers]

    def begins(self, prefix: str) -> Bools:
        """Return which records have a topic that begins with *prefix*."""
        return np.array([name.startswith(prefix) for name in self.names])[self._numbers]

    def places(self, name: bytes) -> tuple[Ints, Places]:
        """Return which records have the property *name*, not empty, and where."""
        row = _NAMES.index(name)
        begins, sizes = (column[row] for column in self._values)
        index = np.flatnonzero(sizes > 0)
        return index, (begins[index], sizes[index])

    def has(self, name: bytes) -> Bools:
        """Return which records have the property *name*."""
        found: Bools = self._values[1][_NAMES.index(name)] > 0
        return found

    def hashed(self, name: bytes) -> Ints:
        """Return the hash of the property *name* of each record."""
        index, (begins, sizes) = self.places(name)
        found = np.full(len(self.chosen), NOTHING)
        found[index] = text_hashes(self._text, (begins, sizes))
        return found

    def has_id(self, name: bytes) -> Bools:
        """Return of which records the property *name* is a message id."""
        index, values = self.places(name)
        found = np.zeros(len(self.chosen), dtype=np.bool_)
        found[index] = are_ids(self._text, values)
        return found


@Twofold
def queue_numbers(text: bytes, values: Places) -> Ints:
    """Return the queue that each of *values* names, NOTHING where one is no number."""
    known = [_queue_of(value) for value in values_of(text, values)]
    return np.array(known, dtype=np.int64)


@lru_cache(maxsize=10_000)
def _queue_of(text: bytes) -> int:
    return int(text) if _queue_number.fullmatch(text) else NOTHING


@Twofold
def are_ids(text: bytes, values: Places) -> Bools:
    """Return which of *values* look like the offset id of a message."""
    found = [_id.fullmatch(value) is not None for value in values_of(text, values)]
    return np.array(found, dtype=np.bool_)


def values_of(text: bytes, values: Places) -> Iterator[bytes]:
    """Yield each of *values* of *text*."""
    begins, sizes = values
    for begin, end in zip(begins.tolist(), (begins + sizes).tolist(), strict=True):
        yield text[begin:end]


def _hashes_of(texts: Sequence[bytes]) -> Ints:
    """Return the hash of each of *texts*."""
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    begins = WORD + np.cumsum(sizes) - sizes
    return text_hashes(b"".join([bytes(WORD), *texts]), (begins, sizes))


@lru_cache
def _hash_of(topic: str) -> int:
    return int(_hashes_of([topic.encode()])[0])


def _halves(stage: Stage) -> tuple[Ints, ...]:
    which = stage.is_in(HALF_TOPIC)
    message = _message(stage, stage.real_topic, stage.real_queue)
    columns = (
        stage.offset,
        stage.number("queue_id"),
        stage.number("queue_offset"),
        stage.number("stored_at_ms"),
        message,
        stage.unique_key,
    )
    return tuple(column[which] for column in columns)


def _commits(stage: Stage, min_offset: int) -> tuple[Ints, ...]:
    half_at = stage.number("prepared_transaction_offset")
    which = stage.is_commit & (half_at > 0) & (half_at >= min_offset)
    waits = stage.is_in(*LATER_TOPICS)
    topic = np.where(waits, stage.real_topic, stage.topic)
    queue = np.where(waits, stage.real_queue, stage.number("queue_id"))
    columns = (stage.offset, half_at, _message(stage, topic, queue), stage.unique_key)
    return tuple(column[which] for column in columns)


def _message(stage: Stage, topic: Ints, queue: Ints) -> Ints:
    """Return by what a half message is known again when it is committed."""
    return hash_of_longs(topic, queue, stage.number("body_crc"), stage.body_size())


def _notes(data: bytes, stage: Stage) -> tuple[Ints, ...] | None:
    """Return the half messages that notes name; None if one cannot be read."""
    which = np.flatnonzero(stage.is_in(OPERATIONS_TOPIC))
    begins, sizes = stage.bodies(which)
    if (sizes > NOTE_SIZE_MAX).any():
        return None
    listed = numbers_listed(data, (begins, sizes))
    if listed is None:
        return None
    index, named = which[listed[0]], listed[1]
    return stage.offset[index], stage.number("queue_id")[index], named


@Twofold
def numbers_listed(data: bytes, lists: Places) -> tuple[Ints, Ints] | None:
    """Return the numbers in *lists*, and of which list each is; None if one is none.

    There is a comma between two, and may be one behind the last.
    """
    places = zip(*(column.tolist() for column in lists), strict=True)
    texts = [data[begin : begin + size].removesuffix(b",") for begin, size in places]
    numbers = b",".join(texts).split(b",") if texts else []
    if not all(text.isdigit() and len(text) <= DIGITS_MAX for text in numbers):
        return None
    counts = [text.count(b",") + 1 for text in texts]
    named = np.array([int(text) for text in numbers], dtype=np.int64)
    return np.repeat(np.arange(len(texts)), counts), named


def _waiting(stage: Stage) -> tuple[Ints, ...]:
    which = np.flatnonzero(stage.is_waiting)
    columns = (
        stage.offset,
        stage.number("queue_id"),
        stage.number("queue_offset"),
        stage.due_ms(),
    )
    message = _delayed(stage, which, stage.real_topic, stage.real_queue)
    return (message, *(column[which] for column in columns))


def _arrived(stage: Stage) -> tuple[Ints, ...]:
    queue = stage.number("queue_id")
    is_there = (stage.topic == stage.real_topic) & (queue == stage.real_queue)
    is_there &= (stage.real_queue != NOTHING) & ~stage.is_in(SCHEDULE_TOPIC)
    which = np.flatnonzero(is_there)
    message = _delayed(stage, which, stage.topic, queue)
    return (message, stage.offset[which], stage.number("stored_at_ms")[which])


def _delayed(stage: Stage, which: Ints, topic: Ints, queue: Ints) -> Ints:
    """Return by what *which* delayed messages are known again when delivered."""
    columns = (
        topic,
        queue,
        stage.unique_key,
        stage.origin,
        stage.number("reconsume_times"),
        stage.number("born_at_ms"),
        stage.number("body_crc"),
        stage.body_size(),
    )
    return hash_of_longs(*(column[which] for column in columns))


def _bad_returns(stage: Stage) -> int:
    """Return how many were handed back, or given up, and may not say of what."""
    names_topic, names_id = stage.has(_RETRY_TOPIC), stage.has(_ORIGIN)
    times = stage.number("reconsume_times")
    back = stage.begins(RETRY_PREFIX) & (stage.topic == stage.real_topic)
    back &= ~stage.has(_POPPED_AT) & (names_topic | names_id)
    if back.any():
        is_sound = names_topic & (times >= 1)
        back &= ~(is_sound & stage.has_id(_ORIGIN))
    dead = stage.begins(DEAD_LETTER_PREFIX) & ~names_topic & (times > 0)
    return int(np.count_nonzero(back | dead))
