"""
How far each group is behind the queues that it consumes, as its offsets say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_checks.digest import Digest
from spark_checks.sources.store_files import Store, read_whole
from spec.layout import LayoutError
from spec.wire import fastjson

PATH = "config/consumerOffset.json"


def lag_of(store: Store, seen: Digest) -> dict[str, object]:
    """Return the lag of each group, by topic: messages that it has not consumed yet."""
    file = next((file for file in store.files if file.path == PATH), None)
    if file is None:
        return {}
    try:
        value = fastjson.loads(read_whole(store.url, file))
    except (LayoutError, UnicodeDecodeError):
        return {}
    table = value.get("offsetTable") if isinstance(value, dict) else None
    return groups_of(table, seen) if isinstance(table, dict) else {}


def groups_of(table: Mapping[Any, Any], seen: Digest) -> dict[str, object]:
    """Return the lags by an offset table; of queues that have units."""
    topics: dict[str, dict[str, int]] = {}
    for name, offsets in table.items():
        topic, _, group = str(name).partition("@")
        lag = _lag(topic, offsets, seen) if isinstance(offsets, dict) else None
        if group and lag is not None:
            topics.setdefault(group, {})[topic] = lag
    return {
        group: {"lag": sum(lags.values()), "topics": dict(sorted(lags.items()))}
        for group, lags in sorted(topics.items())
    }


def _lag(topic: str, offsets: Mapping[Any, Any], seen: Digest) -> int | None:
    """Return the lag in one topic; None if none of its queues is known."""
    found = None
    for queue, offset in offsets.items():
        is_place = str(queue).isdecimal() and isinstance(offset, int)
        units = seen.units.get((topic, int(str(queue)))) if is_place else None
        if units is None or units.last is None or not isinstance(offset, int):
            continue
        begin = max(offset, units.first or 0)
        found = (found or 0) + max(units.last + 1 - begin, 0)
    return found
