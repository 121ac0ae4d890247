"""Columns of the records that the ledger needs; texts are hashes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from columns.gather import Bools, Ints, Places, values_of
from columns.numbers.by_key import NOTHING, Table
from columns.numbers.texts import are_ids, numbers_in
from columns.record_properties import properties_of
from columns.scan.record_columns import REAL_TOPIC, RecordColumns
from columns.uint64_words import WORD, text_hashes
from spark_checks.counting_rules import (
    OP_DIGITS_MAX,
    POPPED_AT,
    QUEUE_DIGITS_MAX,
    TRANSACTION_BITS,
    is_commit,
    is_half,
    is_own_topic,
)
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX

_TEXTS = {
    "real_topic": Property.REAL_TOPIC,
    "real_queue": Property.REAL_QID,
    "key": Property.UNIQ_KEY,
    "origin": Property.ORIGIN_MESSAGE_ID,
    "retry_topic": Property.RETRY_TOPIC,
    "popped_at": POPPED_AT,
}
"""Properties by the name of their column."""
_NAMES = tuple(str(name).encode() for name in _TEXTS.values())
_queue_ids = partial(numbers_in, digits=QUEUE_DIGITS_MAX)
_COMMA = ord(",")
_NUMBERS = (
    *("queue_id", "queue_offset", "born_at_ms", "stored_at_ms", "body_crc"),
    *("reconsume_times", "prepared_transaction_offset"),
)


def system_topic_records(columns: RecordColumns) -> Table:
    """Return the records of system topics among *columns*, as integers.

    Messages made from such records are included.
    """
    names = columns.topics.texts
    found, numbers = columns.found.numbers, columns.topics.numbers
    transaction_type = found["system_flags"].astype(np.int64) & TRANSACTION_BITS
    is_chosen = is_half(transaction_type) | is_commit(transaction_type)
    is_chosen |= columns.split.values[REAL_TOPIC].sizes > 0
    is_chosen |= np.array([is_own_topic(name) for name in names], np.bool_)[numbers]
    chosen = np.flatnonzero(is_chosen)
    if not len(chosen):
        return Table()
    text, values = _properties(columns, chosen)
    places = dict(zip(_TEXTS, values, strict=True))
    begins, sizes = columns.found.places["body"]
    prefixes = {"is_retry": RETRY_PREFIX, "is_dead_letter": DLQ_PREFIX}
    by_topic = {
        "topic": hashes_of(names),
        **{
            column: np.array([name.startswith(prefix) for name in names], np.int64)
            for column, prefix in prefixes.items()
        },
    }
    return Table(
        {name: found[name][chosen].astype(np.int64) for name in _NUMBERS},
        **{name: column[numbers[chosen]] for name, column in by_topic.items()},
        transaction_type=transaction_type[chosen],
        offset=columns.offsets[chosen],
        body_begin=begins[chosen],
        body_size=sizes[chosen],
        real_queue=_filled(places["real_queue"], _queue_ids, text),
        names_topic=(places["retry_topic"][1] > 0).astype(np.int64),
        is_popped=(places["popped_at"][1] > 0).astype(np.int64),
        has_id=_filled(places["origin"], are_ids, text),
        **{
            name: _filled(places[name], text_hashes, text)
            for name in ("real_topic", "key", "origin")
        },
    )


def _properties(columns: RecordColumns, chosen: Ints) -> tuple[bytes, Sequence[Places]]:
    """Return a text, and the places of the values of _NAMES of *chosen* records in it.

    Properties with several readings are decoded one by one.
    """
    data = columns.data
    begins, sizes = (column[chosen] for column in columns.found.places["properties"])
    split = properties_of(data, begins, begins + sizes, _NAMES)
    where = begins, sizes
    if split.is_regular and (split.is_ascii or _are_utf8(values_of(data, where))):
        return split.text, [values[:2] for values in split.values.values()]
    texts = (one.decode("utf-8", "replace") for one in values_of(data, where))
    rows = list(map(decode_properties, texts))
    each = [row.get(name, "").encode() for name in _TEXTS.values() for row in rows]
    text, places = _laid_out(each, len(_NAMES))
    return text, list(zip(*places, strict=True))


def _are_utf8(texts: Iterable[bytes]) -> bool:
    """Return whether each of *texts* is UTF-8."""
    try:
        b"\x02".join(texts).decode()
    except UnicodeDecodeError:
        return False
    return True


def _laid_out(texts: Sequence[bytes], rows: int) -> tuple[bytes, Places]:
    """Return *texts* end to end, and their places in so many *rows*."""
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    begins = WORD + np.cumsum(sizes) - sizes
    text = b"".join([bytes(WORD), *texts])
    return text, (begins.reshape(rows, -1), sizes.reshape(rows, -1))


def _filled(
    values: Places, function: Callable[[bytes, Places], Ints | Bools], text: bytes
) -> Ints:
    """Return *function* of each of *values* of *text*, NOTHING for a missing one."""
    begins, sizes = values
    index = np.flatnonzero(sizes > 0)
    found = np.full(len(sizes), NOTHING)
    found[index] = function(text, (begins[index], sizes[index]))
    return found


def hashes_of(texts: Sequence[str]) -> Ints:
    """Return the hash of each of *texts*, as of a property."""
    text, (begins, sizes) = _laid_out([one.encode() for one in texts], 1)
    return text_hashes(text, (begins[0], sizes[0]))


def numbers_listed(data: bytes, lists: Places) -> tuple[Ints, Ints]:
    """Return list index and value of each number in *lists*, NOTHING if it is invalid.

    Commas separate the numbers, and one may follow the last.
    """
    begins, sizes = lists
    ends = begins + sizes
    filled = np.flatnonzero(sizes)
    ends[filled] -= np.frombuffer(data, np.uint8)[ends[filled] - 1] == _COMMA
    joined = b",".join(values_of(data, (begins, ends - begins)))
    commas = np.flatnonzero(np.frombuffer(joined, np.uint8) == _COMMA)
    count = len(commas) + 1 if len(begins) else 0
    starts = np.append(0, commas + 1)[:count]
    stops = np.append(commas, len(joined))[:count]
    index = np.searchsorted(np.cumsum(ends - begins + 1), starts, side="right")
    return index, numbers_in(joined, (starts, stops - starts), digits=OP_DIGITS_MAX)
