"""Summary of a store in the audit's output: records, queues, configuration, groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from spark_checks.config_files import (
    DELIVERED_OFFSETS,
    GROUPS,
    TOPICS,
    GroupOffset,
    config_file,
    consumed_path,
    offsets_in,
)
from spark_checks.invariants.index.index_headers import used_index_headers
from spark_checks.store_files import Store
from spark_checks.survey.summary import Queues, QueueSummary, SurveySummary
from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX


def store_summary(store: Store, summary: SurveySummary) -> Mapping[str, object]:
    """Return the summary of *store*; 64-bit values are strings.

    A sample has no max_offset. Its records and messages are those of its ranges.
    """
    consumed = config_file(store, consumed_path(store))
    queues = _queues(store, summary)
    return {
        "commitlog": {
            "files": len(store.commit_log),
            "records": summary.record_count,
            "bytes": store.commit_log_size,
            "min_offset": str(store.min_offset),
            "max_offset": str(summary.log_end) if store.parts is None else None,
        },
        "topics": _topics(queues),
        "index": {
            "files": len(store.index),
            "entries": sum(one.index_count - 1 for _, one in used_index_headers(store)),
        },
        "config": _config(store),
        "groups": groups_of(offsets_in(consumed), summary),
        "handed_back": send_backs_of(queues),
        "left_open": store.was_left_open,
        **({"not_read": list(store.databases)} if store.databases else {}),
        **_tasks(summary),
    }


def _tasks(summary: SurveySummary) -> dict[str, object]:
    """Return the tasks of a survey for which kernels were requested."""
    with_kernels, without = summary.kernel_tasks, summary.fallback_tasks
    if not with_kernels + without:
        return {}
    return {"survey_tasks": {"with_kernels": with_kernels, "without": without}}


def _queues(store: Store, summary: SurveySummary) -> Queues:
    """Return the sums of each queue: of its records if all units are in RocksDB."""
    if summary.units or not store.has_queues_in_rocksdb:
        return summary.units
    return {name: one for name, one in summary.records.items() if one.matched_count}


def _topics(queues: Queues) -> dict[str, object]:
    topics: dict[str, dict[str, dict[str, object]]] = {}
    for (topic, queue_id), queue in sorted(queues.items()):
        known = topics.setdefault(topic, {"queues": {}})["queues"]
        known[str(queue_id)] = range_of(queue)
    return dict(topics)


def range_of(queue: QueueSummary | None) -> dict[str, object]:
    """Return the offsets and messages of one queue, which may have no units."""
    last = queue.last if queue else None
    return {
        "min": str((queue.first if queue else None) or 0),
        "max": str(0 if last is None else last + 1),
        "messages": queue.matched_count if queue else 0,
    }


def _config(store: Store) -> dict[str, int]:
    """Return the number of entries in the table of each configuration file."""
    paths = {
        "consumed_offsets": consumed_path(store),
        "delay_offsets": DELIVERED_OFFSETS,
        "groups": GROUPS,
        "topics": TOPICS,
    }
    files = {name: config_file(store, path) for name, path in paths.items()}
    return {
        name: len(file.entries)
        for name, file in files.items()
        if file.value is not None
    }


def groups_of(
    offsets: Iterable[GroupOffset], summary: SurveySummary
) -> dict[str, object]:
    """Return the messages that each group has not consumed yet, by topic.

    Queues without units are left out.
    """
    topics: dict[str, Counter[str]] = {}
    for one in offsets:
        units = summary.units_of(one.topic, one.queue)
        if one.group and units and isinstance(one.offset, int):
            begin = max(one.offset, units.first or 0)
            lags = topics.setdefault(one.group, Counter())
            lags[one.topic] += max((units.last or 0) + 1 - begin, 0)
    return {
        group: {"lag": lags.total(), "topics": dict(sorted(lags.items()))}
        for group, lags in sorted(topics.items())
    }


COUNTED = {RETRY_PREFIX: "retries", DLQ_PREFIX: "dead_letters"}


def send_backs_of(queues: Queues) -> Mapping[str, Mapping[str, int]]:
    """Return the retries and dead letters of each group that has some.

    Each retry is a message of its own, so one message may count several times.
    """
    found: dict[str, dict[str, int]] = {}
    for (topic, _), queue in sorted(queues.items()):
        for prefix, name in COUNTED.items():
            if topic.startswith(prefix) and queue.matched_count:
                counts = found.setdefault(
                    topic.removeprefix(prefix), dict.fromkeys(COUNTED.values(), 0)
                )
                counts[name] += queue.matched_count
    return dict(sorted(found.items()))
