"""
What a store holds, in numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

from spark_checks.digest import Digest, QueueDigest
from spark_checks.handed_back import handed_back_of
from spark_checks.lag import lag_of
from spark_checks.sources.store_files import Store, StoreFile, read_whole
from spec.layout import LayoutError
from spec.store.index_file import HEADER_SIZE, decode_header
from spec.wire import fastjson


def summary_of(store: Store, seen: Digest) -> Mapping[str, object]:
    """Return the summary of *store*; 64-bit values are strings.

    Of a sample nobody knows where the log ends; records and messages are those in it.
    """
    index = [file for file in store.under("index") if file.is_named_by_time]
    return {
        "commitlog": {
            "files": len(store.commit_log),
            "records": seen.record_count,
            "bytes": store.commit_log_size,
            "min_offset": str(store.min_offset),
            "max_offset": str(seen.log_end) if store.parts is None else None,
        },
        "topics": _topics(seen),
        "index": {
            "files": len(index),
            "entries": sum(_entries(store, file) for file in index),
        },
        "config": _config(store),
        "groups": lag_of(store, seen),
        "handed_back": handed_back_of(seen),
        "left_open": store.was_left_open,
    }


def _topics(seen: Digest) -> dict[str, object]:
    topics: dict[str, dict[str, dict[str, object]]] = {}
    for (topic, queue_id), queue in sorted(seen.units.items()):
        topics.setdefault(topic, {"queues": {}})["queues"][str(queue_id)] = {
            "min": str(queue.first or 0),
            "max": str(_end(queue)),
            "messages": queue.matched_count,
        }
    return dict(topics)


def _end(queue: QueueDigest) -> int:
    return 0 if queue.last is None else queue.last + 1


def _entries(store: Store, file: StoreFile) -> int:
    """Return how many items an index file says it has."""
    try:
        header = decode_header(read_whole(store.url, file, size_max=HEADER_SIZE))
    except LayoutError:
        return 0
    return max(header.index_count - 1, 0)


_TABLES = {
    "topics.json": ("topics", "topicConfigTable"),
    "subscriptionGroup.json": ("groups", "subscriptionGroupTable"),
    "consumerOffset.json": ("consumed_offsets", "offsetTable"),
    "delayOffset.json": ("delay_offsets", "offsetTable"),
}
"""What a configuration file counts, and the member that holds it."""


def _config(store: Store) -> dict[str, int]:
    found: dict[str, int] = {}
    for file in store.under("config"):
        name, member = _TABLES.get(file.name, ("", ""))
        if not name:
            continue
        try:
            value = fastjson.loads(read_whole(store.url, file))
        except LayoutError:
            continue
        table = value.get(member) if isinstance(value, dict) else None
        found[name] = len(table) if isinstance(table, dict) else 0
    return found
