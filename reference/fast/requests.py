"""
Dispatch requests of a batch as columns: the fields that queues and index need.

Records that columns may read in another way than core are marked: core puts these.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from columns.gather import Bools, Ints
from columns.key_hashes import KEY_NAMES, KEYS, UNIQUE_KEY, key_hashes
from columns.log_batch import LogBatch
from columns.record_properties import Properties, properties_of
from columns.tags_codes import hashed_tags
from columns.topics import Topics
from reference.core.store.commitlog.record_reader import (
    NOT_CONSUMABLE,
    TRANSACTION_MASK,
)
from spec.wire.message.topic_names import SCHEDULE_TOPIC

QUEUE_OFFSET_MAX = 2**40
"""No queue has so many messages; the bytes of its units can be counted."""
COUNTED_MAX = 2**62
"""Sums of offsets and times below this fit 64 bits."""
_PAIRS = re.compile(rb"(?:[^\x00-\x02]*\x01[^\x00-\x02]*(?:\x02|\Z))*\Z")
"""Properties that every reader splits in the same way."""


class Requests(NamedTuple):
    """Dispatch requests of consecutive records, one entry per record."""

    physical_offset: Ints
    size: Ints
    topic: Ints
    """Index into *topics*."""
    queue_id: Ints
    queue_offset: Ints
    tags_code: Ints
    stored_at_ms: Ints
    is_consumable: Bools
    is_regular: Bools
    """Whether columns read the record as core does."""
    first_key: Ints
    """Index of the record's first key in *hashes*; one more entry for the end."""
    hashes: Ints
    """Key hashes, in the order in which the index gets them."""
    topics: list[str]


def requests_of(batch: LogBatch, topics: Topics) -> Requests:
    """Return the dispatch requests of all records in *batch*."""
    numbers, count = batch.fields.numbers, len(batch.starts)
    begins, sizes = batch.fields.places["properties"]
    split = properties_of(batch.data, begins, begins + sizes, KEY_NAMES)
    keys = key_hashes(batch.fields, topics, split, (UNIQUE_KEY, KEYS))
    order = np.argsort(keys.record, kind="stable")  # the unique key stands before KEYS
    kind = numbers["system_flags"] & TRANSACTION_MASK
    names = [name.decode("utf-8", "replace") for name in topics.names]
    return Requests(
        physical_offset=batch.starts + min(batch.base_offset, COUNTED_MAX),
        size=batch.fields.ends - batch.starts,
        topic=topics.numbers,
        queue_id=numbers["queue_id"].astype(np.int64),
        queue_offset=numbers["queue_offset"],
        tags_code=hashed_tags(split),
        stored_at_ms=numbers["stored_at_ms"],
        is_consumable=~np.isin(kind, NOT_CONSUMABLE),
        is_regular=_is_regular(batch, topics, names, split),
        first_key=np.searchsorted(keys.record[order], np.arange(count + 1)),
        hashes=keys.code[order],
        topics=names,
    )


def _is_regular(
    batch: LogBatch, topics: Topics, names: list[str], split: Properties
) -> Bools:
    """Return the records whose columns are what core reads.

    A delayed message is not regular: its tags code is a time of delivery.
    """
    numbers = batch.fields.numbers
    if batch.base_offset >= COUNTED_MAX:
        return np.zeros(len(batch.starts), np.bool_)
    found: Bools = numbers["physical_offset"] == batch.offsets
    for name, limit in (
        ("queue_id", QUEUE_OFFSET_MAX),
        ("queue_offset", QUEUE_OFFSET_MAX),
        ("stored_at_ms", COUNTED_MAX),
    ):
        found &= (numbers[name] >= 0) & (numbers[name] < limit)
    if SCHEDULE_TOPIC in names:
        found &= topics.numbers != names.index(SCHEDULE_TOPIC)
    if not split.is_regular:
        begins, sizes = batch.fields.places["properties"]
        places = zip(begins.tolist(), (begins + sizes).tolist(), strict=True)
        texts = (batch.data[begin:end] for begin, end in places)
        found &= np.array([bool(_PAIRS.match(text)) for text in texts], np.bool_)
    return found
