"""
Kernel of :mod:`spark_checks.survey.fast_records`: one pass over ordinary records.

Field offsets come from the plan of a record without flags. A record with anything
else is left before any sum includes it. The kernel never reports an error.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from columns.gather import Ints
from columns.log_batch import record_plans
from columns.uint64_words import WORD
from spark_checks.columns.record_damage import (
    CLOCK_TOLERANCE_MS,
    has_wrong_port,
    is_out_of_range,
)
from spark_checks.columns.record_scan import FileRange, Window
from spark_checks.kernels.log_records import FUNCTION
from spark_checks.kernels.long_hashes import identity
from spark_checks.kernels.memory import (
    BIG_ENDIAN,
    DATA,
    INNER,
    INTS,
    LINE,
    OPTIONS,
    crc32_by,
    fetch_ahead,
)
from spark_checks.kernels.record_fields import (
    TABLE,
    TOPICS,
    has_checksum,
    key_sum,
    named_of,
    topic_of,
    within,
)
from spark_checks.kernels.string_hashes import java_hash
from spark_checks.survey.fast_records import QUEUES_MAX, KnownTopics
from spark_checks.survey.summary import SurveySummary
from spark_checks.survey.sums import queue_summary
from spec.integers import INT64_MAX, INT64_MIN
from spec.store.message_record import MAGIC_V1

_AHEAD = 8
"""Records to prefetch."""
_of_1, _of_2, _of_4, _of_8 = (BIG_ENDIAN[size] for size in (1, 2, 4, 8))
_FIXED, _TOPIC, _PROPERTIES = record_plans.plan((MAGIC_V1, 0))
_AT = {placed.name: (placed.offset, placed.size) for placed in _FIXED.fields}
_FIXED_SIZE = _FIXED.size


def _at(name: str, size: int) -> int:
    """Return the offset of the field *name*, which has *size* bytes."""
    offset, has = _AT[name]
    assert has == size, f"{name} has {has} bytes"
    return offset


_SIZE_AT, _MAGIC_AT, _CRC_AT = _at("size", 4), _at("magic", 4), _at("body_crc", 4)
_QUEUE_AT, _FLAGS_AT = _at("queue_id", 4), _at("system_flags", 4)
_QUEUE_OFFSET_AT, _OFFSET_AT = _at("queue_offset", 8), _at("physical_offset", 8)
_STORED_AT, _BODY_SIZE_AT = _at("stored_at_ms", 8), _at("body_size", 4)
_BORN_AT, _RECONSUME_AT = _at("born_at_ms", 8), _at("reconsume_times", 4)
_BORN_PORT_AT, _STORE_PORT_AT = _at("born_host_port", 4), _at("store_host_port", 4)
_HALF_OFFSET_AT = _at("prepared_transaction_offset", 8)
assert (_TOPIC.size, _PROPERTIES.size) == (1, 2), "sizes of a topic and of properties"
_STORED_MAX = INT64_MAX - CLOCK_TOLERANCE_MS
_LOG_END, _LAST_MS, _OF_KEYS, _OF_TAGS = range(4)
_NUMBER, _QUEUE, _COUNT, _FIRST, _LAST, _HASH, _BYTES = range(7)
_NO_SUMS = (0, 0, 0, INT64_MAX, INT64_MIN, 0, 0)
_HAS_CHECKSUMS = -1
_has_wrong_port = njit(types.boolean(types.int64), **INNER)(has_wrong_port)
_is_out_of_range = njit(types.boolean(*2 * [types.int64]), **INNER)(is_out_of_range)


def sum_fast_records(
    window: Window,
    where: FileRange,
    known: KnownTopics,
    *,
    begun_at_ms: int | None,
    ranges: Ints,
) -> tuple[Ints, SurveySummary]:
    """Return the other starts of *window*, and the sums of its fast-path records."""
    count = len(window.starts)
    rows = np.empty((min(count, len(known.groups)), len(_NO_SUMS)), dtype=np.int64)
    rows[:] = _NO_SUMS
    left = np.empty(count, dtype=np.int64)
    totals = np.array([-1, INT64_MIN, 0, 0], dtype=np.int64)
    begun_at_ms = INT64_MIN if begun_at_ms is None else begun_at_ms
    row_count, left_count = _go_through(
        np.frombuffer(window.data, dtype=np.uint8),
        window.starts,
        where.base + window.position,
        max(begun_at_ms - CLOCK_TOLERANCE_MS, INT64_MIN),
        ranges,
        (known.text, known.places, known.prefixes, known.slots),
        known.groups,
        FUNCTION,
        rows,
        left,
        totals,
    )
    if left_count == _HAS_CHECKSUMS:
        return window.starts, SurveySummary()
    if not row_count:
        return left[:left_count], SurveySummary()
    log_end, last_ms, of_keys, of_tags = totals.tolist()
    return left[:left_count], SurveySummary(
        records={
            (known.names[number], queue): queue_summary(matched, matched, *sums)
            for number, queue, matched, *sums in rows[:row_count].tolist()
        },
        log_end=log_end,
        last_stored_at_ms=last_ms,
        last_file_base=where.base,
        key_sums=(of_keys, of_keys ^ of_tags),
    )


@njit(
    types.Tuple((types.boolean, types.int64, types.int64))(
        DATA, types.int64, types.int64, types.int64
    ),
    **INNER,
)
def _laid_out(data, start, end, base):
    """Return whether a record has the ordinary layout and its own offset.

    Also return the begin of its topic and of its properties. Two bytes are between the
    topic's end and the properties.
    """
    body_size = _of_4(data, start + _BODY_SIZE_AT)
    topic = start + _FIXED_SIZE + body_size + 1
    if (
        _of_4(data, start + _MAGIC_AT) & 0xFFFFFFFF != MAGIC_V1
        or _of_4(data, start + _FLAGS_AT)
        or _of_8(data, start + _OFFSET_AT) != base + start
        or body_size < 0
        or topic > end
        or end + WORD > len(data)
    ):
        return False, topic, topic
    topic_size = _of_1(data, topic - 1)
    begin = topic + topic_size + 2
    is_fast = topic_size > 0 and begin <= end and _of_2(data, begin - 2) == end - begin
    return is_fast, topic, begin


@njit(types.boolean(DATA, types.int64), **INNER)
def _is_in_range(data, start):
    """Return whether a record's numbers have values that a broker writes."""
    ports = _of_4(data, start + _BORN_PORT_AT) | _of_4(data, start + _STORE_PORT_AT)
    born_at_ms = _of_8(data, start + _BORN_AT)
    return (
        not _has_wrong_port(ports)
        and not _is_out_of_range(born_at_ms, _of_4(data, start + _RECONSUME_AT))
        and _of_8(data, start + _HALF_OFFSET_AT) == 0
    )


@njit(types.void(INTS, *4 * [types.int64]), **INNER)
def _add(sums, queue_offset, offset, size, tags_code):
    """Add a record to the *sums* of its queue."""
    sums[_COUNT] += 1
    sums[_FIRST] = min(sums[_FIRST], queue_offset)
    sums[_LAST] = max(sums[_LAST], queue_offset)
    sums[_HASH] ^= identity(queue_offset, offset, size, tags_code)
    sums[_BYTES] += size


@njit(
    types.UniTuple(types.int64, 2)(
        DATA,
        INTS,
        types.int64,
        types.int64,
        TABLE,
        TOPICS,
        types.int32[::1],
        types.int64,
        TABLE,
        INTS,
        INTS,
    ),
    **OPTIONS,
)
def _go_through(  # noqa: PLR0912, PLR0915 # one loop: calls cost time
    data, starts, base, stored_min, ranges, topics, groups, crc, rows, left, totals
):
    """Sum up the fast-path records at *starts*, and fill *left* with the others."""
    row_count, left_count = 0, 0
    for index in range(len(starts)):
        soon = index + _AHEAD
        if soon < len(starts):
            for line in range(-2, 2):
                fetch_ahead(data, starts[soon] + line * LINE)
        start = starts[index]
        end = start + _of_4(data, start + _SIZE_AT)
        if has_checksum(data, end):
            left_count = _HAS_CHECKSUMS
            break
        left[left_count] = start
        left_count += 1  # removed once it qualifies
        is_fast, topic, begin = _laid_out(data, start, end, base)
        if not (is_fast and _is_in_range(data, start)):
            continue
        queue, stored = _of_4(data, start + _QUEUE_AT), _of_8(data, start + _STORED_AT)
        if not (0 <= queue < QUEUES_MAX and stored_min <= stored <= _STORED_MAX):
            continue
        number = topic_of(data, topic, begin - 2 - topic, topics)
        is_fast, unique, keys, tags = named_of(data, begin, end)
        if number < 0 or not is_fast:
            continue
        keys_code, is_one = java_hash(data, keys[0], keys[0] + keys[1])
        body = start + _FIXED_SIZE
        whole = crc32_by(crc, data, body, topic - 1 - body)
        if not is_one or _of_4(data, start + _CRC_AT) != np.int64(whole & 0x7FFFFFFF):
            continue
        left_count -= 1
        offset, size = base + start, end - start
        tags_code, _ = java_hash(data, tags[0], tags[0] + tags[1])
        if within(offset, ranges):
            before, before_tag = topics[2][number, 0], topics[2][number, 1]
            code, _ = java_hash(data, unique[0], unique[0] + unique[1])
            totals[_OF_KEYS] ^= key_sum(code, before, unique[1], offset)
            totals[_OF_KEYS] ^= key_sum(keys_code, before, keys[1], offset)
            totals[_OF_TAGS] ^= key_sum(tags_code, before_tag, tags[1], offset)
        totals[_LOG_END] = offset + size
        totals[_LAST_MS] = max(totals[_LAST_MS], stored)
        group = number * QUEUES_MAX + queue
        if groups[group] < 0:
            groups[group] = row_count
            rows[row_count, _NUMBER], rows[row_count, _QUEUE] = number, queue
            row_count += 1
        queue_offset = _of_8(data, start + _QUEUE_OFFSET_AT)
        tags = np.int64(np.int32(tags_code))
        _add(rows[groups[group]], queue_offset, offset, size, tags)
    for row in range(row_count):
        groups[rows[row, _NUMBER] * QUEUES_MAX + rows[row, _QUEUE]] = -1
    return row_count, left_count
