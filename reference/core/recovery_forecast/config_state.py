"""
The JSON files of ``config/`` at a start: the source of each, and its offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from reference.core.recovery_forecast.outcome import (
    ConfigRead,
    OffsetOutside,
    Outcome,
    StartRefusedError,
)
from reference.core.recovery_forecast.queues_state import QueuesState
from reference.core.recovery_forecast.store_view import StoreView
from reference.core.store.recovery.load import load_config
from reference.core.store.recovery.rules import RecoveryRules
from spec.routing.json_object import JsonObject, as_object
from spec.store.config.config_files import (
    BACKUP_SUFFIX,
    CONSUMER_FILTERS_FILE,
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
)
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_TABLES = {
    TOPICS_FILE: ("topicConfigTable", "dataVersion"),
    CONSUMER_OFFSETS_FILE: ("offsetTable",),
    GROUPS_FILE: ("subscriptionGroupTable", "dataVersion"),
    CONSUMER_FILTERS_FILE: (),
    DELAY_OFFSETS_FILE: ("offsetTable",),
}
"""Files in the order of reading, with the members that must be objects if present.

The releases read delay offsets at different points. The result is the same.
"""

PULL_OFFSETS = "pullOffsetTable"
_OFFSETS = "offsetTable"


class ConfigState:
    """The content of the files as the broker loads it."""

    def __init__(self, view: StoreView, rules: RecoveryRules) -> None:
        self._view = view
        self._rules = rules
        self._values: dict[str, JsonObject] = {}

    def load(self, outcome: Outcome) -> None:
        """Load the files; raise StartRefusedError at the first that is unreadable."""
        for name, tables in _TABLES.items():
            path = f"config/{name}"
            text, backup = self._view.text(path), self._view.text(path + BACKUP_SUFFIX)
            if text is None and backup is None and name == CONSUMER_FILTERS_FILE:
                continue  # most brokers have none
            refuses = name == CONSUMER_OFFSETS_FILE and self._rules.refuses_pull_offsets
            decode = _without_pull_offsets if refuses else partial(_with_tables, tables)
            found = load_config(text, backup, decode)
            outcome.config.append(
                ConfigRead(path, found.source, found.report, text is not None)
            )
            self._values[name] = found.value or {}
            if not found.starts:
                is_newer = refuses and PULL_OFFSETS in found.report
                clause = "STORE-CONFIG-019" if is_newer else "STORE-CONFIG-016"
                raise StartRefusedError(clause, path, f"{path} {found.report}")

    def offsets_outside(self, queues: QueuesState) -> list[OffsetOutside]:
        """Return the committed offsets outside the bounds of their queue."""
        found = []
        for name, table in _objects(self._values[CONSUMER_OFFSETS_FILE].get(_OFFSETS)):
            topic, at, owner = str(name).partition("@")
            for queue_id, offset in _numbers(table) if at else ():
                queue = owner, topic, queue_id
                found += _outside(queue, offset, queues, _GROUP_EFFECTS)
        return found

    def delay_offsets_outside(self, queues: QueuesState) -> list[OffsetOutside]:
        """Return the delay offsets outside the bounds of their level's queue."""
        found = []
        for level, offset in _numbers(self._values[DELAY_OFFSETS_FILE].get(_OFFSETS)):
            queue = str(level), SCHEDULE_TOPIC, level - 1
            found += _outside(queue, offset, queues, _DELAY_EFFECTS)
        return found


def _with_tables(tables: tuple[str, ...], value: JsonObject) -> JsonObject:
    """Return *value*, in which the members *tables* must be objects."""
    for table in tables:
        as_object(value.get(table, {}), table)
    return value


def _without_pull_offsets(value: JsonObject) -> JsonObject:
    """Return the content of consumerOffset.json, which must have no pull offsets."""
    if as_object(value.get(PULL_OFFSETS, {}), PULL_OFFSETS):
        raise ValueError(f"5.4 cannot read the member {PULL_OFFSETS}")
    return _with_tables(_TABLES[CONSUMER_OFFSETS_FILE], value)


def _outside(
    whose: tuple[str, str, int],
    offset: int,
    queues: QueuesState,
    effects: Mapping[bool, str],
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
            effect=effects[offset > high],
        )
    ]


_GROUP_EFFECTS = {
    False: "the group goes on at the queue's first message",
    True: "the group gets no message until the queue has grown to its offset, unless"
    " its clients correct it",
}
_DELAY_EFFECTS = {
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
