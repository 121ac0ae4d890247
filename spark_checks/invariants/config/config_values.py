"""
Invariant of single values in configuration files.

Most settings are free for an operator to choose. Names that repeat the key of their
entry are not, nor are numbers outside of the range that any setting has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from columns.scan.record_damage import BORN_MAX_MS
from spark_checks.config_files import TABLES, config_file, object_of, place_of
from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import Store
from spec.integers import INT32_MAX, INT64_MAX

QUEUES_MAX = 1_000_000
"""More queues of one topic than any broker could open."""
PERMISSIONS_MAX = 15
"""All bits of a topic's permission."""
_RANGES: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(
        ("readQueueNums", "writeQueueNums", "retryQueueNums"), (0, QUEUES_MAX)
    ),
    **dict.fromkeys(
        ("timestamp", "timeStamp", "bornTime", "deadTime"), (0, BORN_MAX_MS)
    ),
    **dict.fromkeys(
        ("topicSysFlag", "groupSysFlag", "consumeTimeoutMinute"), (0, INT32_MAX)
    ),
    **dict.fromkeys(
        ("counter", "stateVersion", "clientVersion", "brokerId"), (0, INT64_MAX)
    ),
    "whichBrokerWhenConsumeSlowly": (0, INT64_MAX),
    "retryMaxTimes": (-1, INT32_MAX),
    "perm": (0, PERMISSIONS_MAX),
}
"""Smallest and largest number of each member, by Java's name."""
_NAMES = ("topicName", "groupName", "consumerGroup")
"""Members of an entry that repeat its key."""
_TABLES = {
    **{name: TABLES[name] for name in ("topics.json", "subscriptionGroup.json")},
    "transactionMetrics": "transactionCount",
    "timermetrics": "timingCount",
}
"""Member with the table of each file."""
FILES = (*_TABLES, "consumerOffset.json", "delayOffset.json", "consumerFilter.json")


def check_config_values(store: Store) -> Iterator[Finding]:
    """Yield the impossible values in the configuration files of *store*."""
    for file in store.under("config"):
        if file.name not in FILES:
            continue
        found = config_file(store, file.path)
        for names, expected, value in _wrong_values(file.name, found.members):
            place = place_of(found.data, *names), len(str(value))
            texts = {"expected": expected, "found": f"{'.'.join(names)} {value!r}"}
            yield file_finding("INV-CONFIG-004", file.path, place, **texts)


Wrong = tuple[tuple[str, str], str, object]
"""Names of the entry and its member, the expectation, and the value."""


def _wrong_values(name: str, found: Mapping[str, object]) -> Iterator[Wrong]:
    yield from _in_entry("dataVersion", found.get("dataVersion"))
    if name in _TABLES:
        yield from _in_entries(found.get(_TABLES[name]))
    if name == "consumerFilter.json":
        for topic, filters in object_of(found.get("filterDataByTopic")).items():
            shown = object_of(filters)
            if _differs(topic, shown.get("topic", topic)):
                yield (topic, "topic"), topic, shown["topic"]
            entries = shown.get("groupFilterData")
            yield from _in_entries(entries)
            for entry in object_of(entries).values():
                yield from _in_filter(topic, object_of(entry))


def _in_entries(table: object) -> Iterator[Wrong]:
    for key, entry in object_of(table).items():
        yield from _in_entry(key, entry)


def _in_entry(key: str, entry: object) -> Iterator[Wrong]:
    """Yield the names that do not repeat *key*, and the numbers out of range."""
    for member, value in object_of(entry).items():
        if member in _NAMES and _differs(key, value):
            yield (key, member), key, value
        if member in _RANGES and isinstance(value, int):
            least, most = _RANGES[member]
            if not least <= value <= most:
                yield (key, member), f"a number from {least} to {most}", value


def _differs(key: str, name: object) -> bool:
    """Return whether *name* is not *key*, unless zeros are why: INV-CONFIG-001."""
    return name != key and "\0" not in f"{key}{name}"


def _in_filter(topic: str, entry: Mapping[str, object]) -> Iterator[Wrong]:
    """Yield the wrong values of a group's expression for *topic*."""
    group = str(entry.get("consumerGroup"))
    born, dead = entry.get("bornTime"), entry.get("deadTime")
    if _differs(topic, entry.get("topic", topic)):
        yield (group, "topic"), topic, entry["topic"]
    if isinstance(born, int) and isinstance(dead, int) and "dead" in entry:
        is_dead = dead >= born
        if entry["dead"] is not is_dead:
            yield (group, "dead"), str(is_dead), entry["dead"]
    bits = object_of(entry.get("bloomFilterData"))
    count, places = bits.get("bitNum"), bits.get("bitPos")
    if not isinstance(count, int) or not isinstance(places, list):
        return
    if any(not isinstance(at, int) or not 0 <= at < count for at in places):
        yield (group, "bitPos"), f"places of 0 to {count - 1}", places
