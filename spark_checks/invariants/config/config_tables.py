"""
Invariants of configuration tables: that they are there, and cover what groups need.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_checks.config_files import (
    CONSUMED,
    GROUPS,
    TABLES,
    TOPICS,
    config_table,
    consumed_offsets,
)
from spark_checks.findings import Finding, Severity
from spark_checks.invariants.config.settings import OF_THE_BROKER, end_of
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import Store, StoreFile, read_json
from spark_checks.survey.summary import SurveySummary

QUEUE_COUNT = "readQueueNums"


def check_config_tables(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings in the tables of the configuration of *store*."""
    files = {file.path: file for file in store.under("config")}
    for name, member in TABLES.items():
        file = files.get(f"config/{name}")
        if file is None:
            yield from _missing(
                store, name, summary, has_copy=f"config/{name}.bak" in files
            )
        else:
            yield from _without_table(store, file, member)
    yield from _unreadable_queues(store, summary)


def _missing(
    store: Store, name: str, summary: SurveySummary, *, has_copy: bool
) -> Iterator[Finding]:
    """Yield the finding of a missing file.

    A broker moves the file to its copy before it renames the new file (4.6.0
    common.MixAll#string2File). Each creation of a topic writes topics.json. Releases
    since 5.0 may have a database in a directory of config instead.
    """
    path = f"config/{name}"
    has_database = any(one.startswith("config/") for one in store.directories)
    if has_copy:
        yield _finding(path, f"no file, but a copy {path}.bak", Severity.WARNING)
    elif not has_database and _is_required(store, path, summary):
        yield _finding(path, "no file, and no copy", Severity.ERROR)


def _is_required(store: Store, path: str, summary: SurveySummary) -> bool:
    """Return whether the broker that wrote the other files wrote this one as well.

    It writes consumed offsets at each stop (4.6.0 broker.BrokerController#shutdown).
    """
    paths = {file.path for file in store.under("config")}
    if path == TOPICS:
        topics = {topic for topic, _ in summary.units}
        return bool(paths) and any(not OF_THE_BROKER.fullmatch(one) for one in topics)
    is_closed = not store.was_left_open
    others = {TOPICS, GROUPS}
    return (
        path in CONSUMED and is_closed and others <= paths and not paths & {*CONSUMED}
    )


def _finding(path: str, found: str, severity: Severity) -> Finding:
    return file_finding(
        "INV-CONFIG-005",
        path,
        (0, 0),
        expected="a file",
        found=found,
        severity=severity,
        message=f"{path} is missing: {found}.",
    )


def _without_table(store: Store, file: StoreFile, member: str) -> Iterator[Finding]:
    value = read_json(store.url, file)
    if isinstance(value, dict) and not isinstance(value.get(member), dict):
        yield file_finding(
            "INV-CONFIG-005",
            file.path,
            (0, file.size),
            expected=f"a table {member}",
            found=f"the members {', '.join(map(str, value)) or 'of an empty object'}",
        )


def _unreadable_queues(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the queues behind the read queue count that a group has not consumed."""
    topics = config_table(store, TOPICS).entries
    every = ((path, one) for path in CONSUMED for one in consumed_offsets(store, path))
    for path, one in every:
        config = topics.get(one.topic)
        count = config.get(QUEUE_COUNT) if isinstance(config, dict) else None
        end = end_of(summary, one.topic, one.queue)
        if not isinstance(count, int) or end is None or int(one.queue) < count:
            continue
        if isinstance(one.offset, int) and -1 <= one.offset < end:
            wanted = int(one.queue) + 1
            yield file_finding(
                "INV-CONFIG-006",
                path,
                one.place,
                expected=f"{one.topic} with {QUEUE_COUNT} of {wanted} or more",
                found=f"{QUEUE_COUNT} {count}",
                message=f"{one.group} has consumed queue {one.queue} of {one.topic} up"
                f" to {one.offset} of {end}, but the {QUEUE_COUNT} of the topic is"
                f" {count}.",
            )
