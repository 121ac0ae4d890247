"""
Values that the ledger parses from properties and op messages: numbers and message ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from columns.accelerated import Accelerated
from columns.gather import Ints, Places
from spark_checks.counting_rules import ID_SIZES, OP_DIGITS_MAX, QUEUE_DIGITS_MAX
from spark_checks.survey.sums import Bools

NOTHING = -1
"""Hash or queue id of a missing property."""
_queue_number = re.compile(rb"[0-9]{1,%d}" % QUEUE_DIGITS_MAX)
_id = re.compile(b"|".join(rb"[0-9A-Fa-f]{%d}" % size for size in ID_SIZES))


@Accelerated
def queue_numbers(text: bytes, values: Places) -> Ints:
    """Return the queue id in each of *values*, NOTHING if it is not a number."""
    known = [_queue_of(value) for value in values_of(text, values)]
    return np.array(known, dtype=np.int64)


@lru_cache(maxsize=10_000)
def _queue_of(text: bytes) -> int:
    return int(text) if _queue_number.fullmatch(text) else NOTHING


@Accelerated
def are_ids(text: bytes, values: Places) -> Bools:
    """Return the mask of *values* with the form of a message id."""
    found = [_id.fullmatch(value) is not None for value in values_of(text, values)]
    return np.array(found, dtype=np.bool_)


def values_of(text: bytes, values: Places) -> Iterator[bytes]:
    """Yield each of *values* of *text*."""
    begins, sizes = values
    for begin, end in zip(begins.tolist(), (begins + sizes).tolist(), strict=True):
        yield text[begin:end]


@Accelerated
def numbers_listed(data: bytes, lists: Places) -> tuple[Ints, Ints] | None:
    """Return list index and value of each number in *lists*; None if one is invalid.

    Commas separate the numbers, and one may follow the last.
    """
    places = zip(*(column.tolist() for column in lists), strict=True)
    texts = [data[begin : begin + size].removesuffix(b",") for begin, size in places]
    numbers = b",".join(texts).split(b",") if texts else []
    if not all(text.isdigit() and len(text) <= OP_DIGITS_MAX for text in numbers):
        return None
    counts = [text.count(b",") + 1 for text in texts]
    named = np.array([int(text) for text in numbers], dtype=np.int64)
    return np.repeat(np.arange(len(texts)), counts), named
