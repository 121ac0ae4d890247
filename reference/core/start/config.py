"""
The JSON files of ``config/`` at a start: which a broker reads, and what they point at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from reference.core.start.outcome import ConfigRead, OffsetOutside, Refusal
from reference.core.start.queues_state import QueuesState
from reference.core.start.view import StoreView
from reference.core.store.api import SCHEDULE_TOPIC
from reference.core.store.config_files import (
    CONSUMER_OFFSETS,
    DELAY_OFFSETS,
    SUBSCRIPTION_GROUPS,
    TOPICS,
)
from reference.core.store.recovery_loading import read_config
from spec.store.config_files import BACKUP_SUFFIX

_TABLES = {
    TOPICS: ("topicConfigTable", "dataVersion"),
    CONSUMER_OFFSETS: ("offsetTable",),
    SUBSCRIPTION_GROUPS: ("subscriptionGroupTable", "dataVersion"),
    "consumerFilter.json": (),
    DELAY_OFFSETS: ("offsetTable",),
}
"""In the order they are read, with the members that must be objects if they are there;
where the delay offsets come in that order differs, with no difference in the end."""

_SAID_WHEN_MISSING = (TOPICS, CONSUMER_OFFSETS, SUBSCRIPTION_GROUPS, DELAY_OFFSETS)


class Configuration(NamedTuple):
    """What a broker read."""

    readings: list[ConfigRead]
    values: dict[str, Mapping[object, object]]
    refusal: Refusal | None


def read_configuration(view: StoreView) -> Configuration:
    """Return what a broker reads of the configuration, up to what it cannot."""
    found = Configuration([], {}, None)
    for name, tables in _TABLES.items():
        path = f"config/{name}"
        text, backup = view.text(path), view.text(path + BACKUP_SUFFIX)

        def accepts(value: object, tables: tuple[str, ...] = tables) -> bool:
            return isinstance(value, dict) and all(
                isinstance(value.get(table, {}), dict) for table in tables
            )

        reading = read_config(text, backup, accepts)
        if text is None and backup is None and name not in _SAID_WHEN_MISSING:
            continue  # most brokers have none
        found.readings.append(ConfigRead(path, reading.source, reading.says))
        found.values[name] = reading.value or {}
        if not reading.starts:
            says = f"{path} {reading.says}"
            return found._replace(refusal=Refusal("STORE-CONFIG-016", path, says))
    return found


def offsets_outside(
    value: Mapping[object, object], queues: QueuesState
) -> list[OffsetOutside]:
    """Return the committed offsets that do not lie in their queue."""
    found = []
    for name, table in _objects(value.get("offsetTable")):
        topic, at, group = str(name).partition("@")
        for queue_id, offset in _numbers(table) if at else ():
            found += _outside((group, topic, queue_id), offset, queues, _group_says)
    return found


def delay_offsets_outside(
    value: Mapping[object, object], queues: QueuesState
) -> list[OffsetOutside]:
    """Return the delay offsets that do not lie in their level's queue."""
    found = []
    for level, offset in _numbers(value.get("offsetTable")):
        found += _outside(
            (str(level), SCHEDULE_TOPIC, level - 1), offset, queues, _delay_says
        )
    return found


def _outside(
    whose: tuple[str, str, int],
    offset: int,
    queues: QueuesState,
    says: Mapping[bool, str],
) -> list[OffsetOutside]:
    owner, topic, queue_id = whose
    queue = queues.get(topic, queue_id)
    low, high = (queue.min_offset, queue.max_offset) if queue else (0, 0)
    if low <= offset <= high:
        return []
    return [
        OffsetOutside(
            owner=owner,
            topic=topic,
            queue_id=queue_id,
            offset=offset,
            min_offset=low,
            max_offset=high,
            says=says[offset > high],
        )
    ]


_group_says = {
    False: "the group goes on at the queue's first message",
    True: "the group gets no message until the queue has grown to its offset, unless"
    " its clients correct it",
}
_delay_says = {
    False: "delivery goes on at the level's first message",
    True: "the level delivers nothing until its queue has grown to this offset",
}


def _objects(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, Mapping):
        yield from value.items()


def _numbers(value: object) -> Iterator[tuple[int, int]]:
    for key, number in _objects(value):
        text = str(key)
        if isinstance(number, int) and text.isascii() and text.isdigit():
            yield int(text), number
