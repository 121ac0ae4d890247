"""
Invariant of single values in configuration files.

Most settings are free for an operator to choose. Names that repeat the key of their
entry are not, nor are numbers outside of the range that any setting has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from spark_checks.columns.record_damage import BORN_MAX_MS
from spark_checks.config_files import TABLES, config_file, object_of, place_of
from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import Store
from spec.integers import INT32_MAX, INT64_MAX

QUEUES_MAX = 1_000_000
"""More queues of one topic than any broker could open."""
PERMISSIONS_MAX = 15
"""All bits of a topic's permission."""
_COUNT = (0, INT32_MAX)
_TIME = (0, BORN_MAX_MS)
Ranges = Mapping[str, tuple[int, int]]
"""Smallest and largest number of each member, by Java's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table of entries in a file."""

    member: str
    """Member of the file's object that holds the table."""
    name: str = ""
    """Member of an entry that repeats the entry's key."""
    ranges: Ranges = field(default_factory=dict)


_VERSION: Ranges = {
    "counter": (0, INT64_MAX),
    "timestamp": _TIME,
    "stateVersion": (0, INT64_MAX),
}
_TABLES: Mapping[str, _Table] = {
    "topics.json": _Table(
        member=TABLES["topics.json"],
        name="topicName",
        ranges={
            "readQueueNums": (0, QUEUES_MAX),
            "writeQueueNums": (0, QUEUES_MAX),
            "perm": (0, PERMISSIONS_MAX),
            "topicSysFlag": _COUNT,
        },
    ),
    "subscriptionGroup.json": _Table(
        member=TABLES["subscriptionGroup.json"],
        name="groupName",
        ranges={
            "retryQueueNums": (0, QUEUES_MAX),
            "retryMaxTimes": (-1, INT32_MAX),
            "brokerId": (0, INT64_MAX),
            "whichBrokerWhenConsumeSlowly": (0, INT64_MAX),
            "groupSysFlag": _COUNT,
            "consumeTimeoutMinute": _COUNT,
        },
    ),
    "transactionMetrics": _Table(
        member="transactionCount", ranges={"timeStamp": _TIME}
    ),
    "timermetrics": _Table(member="timingCount", ranges={"timeStamp": _TIME}),
}
_FILTER = _Table(
    member="groupFilterData",
    name="consumerGroup",
    ranges={"bornTime": _TIME, "deadTime": _TIME, "clientVersion": (0, INT64_MAX)},
)
FILES = (*_TABLES, "consumerOffset.json", "delayOffset.json", "consumerFilter.json")


def check_config_values(store: Store) -> Iterator[Finding]:
    """Yield the impossible values in the configuration files of *store*."""
    for file in store.under("config"):
        if file.name not in FILES:
            continue
        found = config_file(store, file.path)
        for names, expected, value in _wrong_values(file.name, found.members):
            yield file_finding(
                "INV-CONFIG-004",
                file.path,
                (place_of(found.data, *names), len(str(value))),
                expected=expected,
                found=f"{'.'.join(names)} {value!r}",
            )


Wrong = tuple[tuple[str, str], str, object]
"""Names of the entry and its member, the expectation, and the value."""


def _wrong_values(name: str, found: Mapping[str, object]) -> Iterator[Wrong]:
    yield from _outside("dataVersion", object_of(found.get("dataVersion")), _VERSION)
    table = _TABLES.get(name)
    if table is not None:
        yield from _in_table(table, found)
    if name == "consumerFilter.json":
        for topic, filters in object_of(found.get("filterDataByTopic")).items():
            shown = object_of(filters)
            if _differs(topic, shown.get("topic", topic)):
                yield (topic, "topic"), topic, shown["topic"]
            yield from _in_table(_FILTER, shown)
            for entry in object_of(shown.get(_FILTER.member)).values():
                yield from _in_filter(topic, object_of(entry))


def _in_table(table: _Table, found: Mapping[str, object]) -> Iterator[Wrong]:
    for key, entry in object_of(found.get(table.member)).items():
        shown = object_of(entry)
        if table.name and _differs(key, shown.get(table.name, key)):
            yield (key, table.name), key, shown[table.name]
        yield from _outside(key, shown, table.ranges)


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


def _outside(
    entry: str, shown: Mapping[str, object], ranges: Ranges
) -> Iterator[Wrong]:
    """Yield the numbers of *entry* that are outside of their range."""
    for member, (least, most) in ranges.items():
        value = shown.get(member)
        if isinstance(value, int) and not least <= value <= most:
            yield (entry, member), f"a number from {least} to {most}", value
