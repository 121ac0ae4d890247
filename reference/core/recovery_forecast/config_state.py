"""
The JSON files of ``config/`` at a start: the source of each, and its offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from reference.core.recovery_forecast.outcome import (
    ConfigRead,
    OffsetOutside,
    Outcome,
)
from reference.core.recovery_forecast.queues_state import QueuesState
from reference.core.recovery_forecast.store_view import StartRefusedError, StoreView
from reference.core.store.recovery.load import load_config
from reference.core.store.recovery.rules import RecoveryRules
from spec.store.config.config_files import (
    BACKUP_SUFFIX,
    CONSUMER_FILTERS_FILE,
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
    consumer_offsets_path,
)
from spec.wire.bodies.json_object import JsonObject, as_object
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


def load_configs(
    view: StoreView, rules: RecoveryRules, outcome: Outcome
) -> dict[str, JsonObject]:
    """Return the content of each file as the broker loads it.

    Raise StartRefusedError at the first that is unreadable.
    """
    values = {}
    for name, tables in _TABLES.items():
        path = f"config/{name}"
        if name == CONSUMER_OFFSETS_FILE and rules.reads_lmq_offsets:
            path = consumer_offsets_path(view.exists)
        text, backup = view.text(path), view.text(path + BACKUP_SUFFIX)
        if text is None and backup is None and name == CONSUMER_FILTERS_FILE:
            continue  # most brokers have none
        refuses = name == CONSUMER_OFFSETS_FILE and rules.refuses_pull_offsets
        decode = _without_pull_offsets if refuses else partial(_with_tables, tables)
        found = load_config(text, backup, decode, rules.null_texts(name))
        source, report = found.source, found.report
        lacks_table = tables and tables[0] not in (found.value or {})
        if lacks_table and source != "nothing":
            lack = f"has no {tables[0]}"
            report = lack if source == "file" else f"{report}, which {lack}"
            source = "nothing"
        outcome.config.append(ConfigRead(path, source, report, text is not None))
        values[name] = found.value or {}
        if not found.starts:
            is_newer = refuses and PULL_OFFSETS in found.report
            clause = "STORE-CONFIG-019" if is_newer else "STORE-CONFIG-016"
            raise StartRefusedError(clause, path, f"{path} {found.report}")
    return values


def offsets_outside(
    values: Mapping[str, JsonObject], queues: QueuesState
) -> tuple[list[OffsetOutside], list[OffsetOutside]]:
    """Return the committed and the delay offsets outside the bounds of their queue."""
    groups = _group_offsets(values[CONSUMER_OFFSETS_FILE].get(_OFFSETS))
    levels = _numbers(values[DELAY_OFFSETS_FILE].get(_OFFSETS))
    delays = ((str(level), SCHEDULE_TOPIC, level - 1, at) for level, at in levels)
    return (
        _outside(groups, queues, _GROUP_EFFECTS),
        _outside(delays, queues, _DELAY_EFFECTS),
    )


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


def _group_offsets(table: object) -> Iterator[tuple[str, str, int, int]]:
    """Yield group, topic, queue id and offset of each committed offset."""
    for name, offsets in _objects(table):
        topic, at, group = str(name).partition("@")
        for queue_id, offset in _numbers(offsets) if at else ():
            yield group, topic, queue_id, offset


def _outside(
    offsets: Iterable[tuple[str, str, int, int]],
    queues: QueuesState,
    effects: Mapping[bool, str],
) -> list[OffsetOutside]:
    found = []
    for owner, topic, queue_id, offset in offsets:
        queue = queues.get(topic, queue_id)
        low, high = (queue.min_offset, queue.max_offset) if queue else (0, 0)
        if not low <= offset <= high:
            outside = OffsetOutside(
                owner=owner,
                topic=topic,
                queue_id=queue_id,
                offset=offset,
                min_offset=low,
                max_offset=high,
                effect=effects[offset > high],
            )
            found.append(outside)
    return found


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
