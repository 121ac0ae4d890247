"""Delays of the delay levels of a store's broker, as its consume queues have them."""

from __future__ import annotations

from collections.abc import Iterator

from cli.runs.stores.stated_offsets import RecordAt
from reference.core.store.recovery.load import is_offset
from reference.shell.storage.read_only_files import ReadOnlyStore
from spec.store.consume_queue import UNIT_SIZE, Unit, decode_units
from spec.store.file_names import CONSUME_QUEUE
from spec.wire.message.delay_levels import (
    DEFAULT_DELAY_LEVELS,
    DelayLevels,
    decode_delay_levels,
    encode_delay_levels,
    level_of_queue,
)
from spec.wire.message.topic_names import SCHEDULE_TOPIC

LEVELS_MAX = 1000
"""Directories with a larger number are of no delay level."""
UNITS_OF_FILE = 100
"""The last units of a file are read: the broker's setting may have changed before."""
SECOND_MS = 1000


def stated_delays(view: ReadOnlyStore, record_at: RecordAt) -> str:
    """Return the setting messageDelayLevel of the broker that wrote the store.

    A unit of a delayed message has the delivery time in place of a hash. A level
    without a unit has the default.
    """
    delays_ms = list(decode_delay_levels(DEFAULT_DELAY_LEVELS).delays_ms)
    topic = f"{CONSUME_QUEUE}/{SCHEDULE_TOPIC}"
    for queue in view.entries(topic):
        if not is_offset(queue.name) or int(queue.name) >= LEVELS_MAX:
            continue
        for unit in _last_units(view, f"{topic}/{queue.name}"):
            record = record_at(unit.commit_log_offset)
            if record is None or record.topic != SCHEDULE_TOPIC:
                continue
            delay_ms = unit.tags_code - record.stored_at_ms
            if delay_ms > 0 and delay_ms % SECOND_MS == 0:
                level = level_of_queue(int(queue.name))
                delays_ms += delays_ms[-1:] * (level - len(delays_ms))
                delays_ms[level - 1] = delay_ms
                break
    return encode_delay_levels(DelayLevels(tuple(delays_ms)))


def _last_units(view: ReadOnlyStore, directory: str) -> Iterator[Unit]:
    """Yield the last units of each file of a queue, the latest first."""
    for file in reversed(view.entries(directory)):
        if is_offset(file.name) and file.size:
            path = f"{directory}/{file.name}"
            # A last unit that ends with zeros is left out.
            end = view.written_size(path) // UNIT_SIZE * UNIT_SIZE
            begin = max(end - UNITS_OF_FILE * UNIT_SIZE, 0)
            yield from reversed(decode_units(view.data(path)[begin:end]))
