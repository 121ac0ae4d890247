"""
Tables of a store's configuration files, and the consumed offsets in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spark_checks.store_files import Store, read_whole
from spec.layout import LayoutError
from spec.wire.bodies import fastjson

TOPICS = "config/topics.json"
GROUPS = "config/subscriptionGroup.json"
CONSUMED_OFFSETS = "config/consumerOffset.json"
DELIVERED_OFFSETS = "config/delayOffset.json"
CONSUMED = (CONSUMED_OFFSETS, "config/lmqConsumerOffset.json")
"""Files with consumed offsets; a broker with enableLmq uses the second one."""
TABLES: Mapping[str, str] = {
    "topics.json": "topicConfigTable",
    "subscriptionGroup.json": "subscriptionGroupTable",
    "consumerOffset.json": "offsetTable",
    "delayOffset.json": "offsetTable",
    "consumerFilter.json": "filterDataByTopic",
}
"""Member with the table of each file, which every release writes, be it empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigTable:
    """Table of a configuration file; empty if it is missing or unreadable."""

    data: bytes
    """Bytes of the file."""
    entries: Mapping[str, object]
    is_there: bool = True
    """Whether the file can be read and has the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffset:
    """Consumed offset of a group, as it stands in a file."""

    table: ConfigTable
    name: str
    """Name of the entry: topic@group."""
    queue: str
    offset: object

    @property
    def topic(self) -> str:
        """Topic in the entry's name."""
        return self.name.partition("@")[0]

    @property
    def group(self) -> str:
        """Group in the entry's name."""
        return self.name.partition("@")[2]

    @property
    def place(self) -> tuple[int, int]:
        """Position and length of the offset in the file."""
        position = place_of(self.table.data, self.name, self.queue)
        return position, len(str(self.offset))


def config_table(store: Store, path: str) -> ConfigTable:
    """Return the table of the configuration file at *path*."""
    file = store.file(path)
    data = b"" if file is None else read_whole(store.url, file)
    member = TABLES.get(path.rpartition("/")[2], "offsetTable")
    try:
        value = fastjson.loads(data)
    except (LayoutError, UnicodeDecodeError):
        value = None
    table = value.get(member) if isinstance(value, dict) else None
    if not isinstance(table, dict):
        return ConfigTable(data=data, entries={}, is_there=False)
    entries = {str(name): entry for name, entry in table.items()}
    return ConfigTable(data=data, entries=entries)


def consumed_offsets(store: Store, path: str) -> Iterator[GroupOffset]:
    """Yield the offsets in the file at *path*, one of CONSUMED."""
    table = config_table(store, path)
    for name, offsets in table.entries.items():
        if isinstance(offsets, dict):
            for queue, offset in offsets.items():
                yield GroupOffset(
                    table=table, name=name, queue=str(queue), offset=offset
                )


def numbers_of(offsets: object) -> dict[int, int]:
    """Return the offsets by queue id or level in an object of a table."""
    pairs = offsets.items() if isinstance(offsets, Mapping) else ()
    return {
        int(str(key)): offset
        for key, offset in pairs
        if str(key).isdecimal() and isinstance(offset, int)
    }


def place_of(data: bytes, name: str, key: str) -> int:
    """Return the position of the value of *key* in the object *name*."""
    begin = max(data.find(f'"{name}"'.encode()), 0)
    found = re.compile(rb'[{,]\s*"?' + key.encode() + rb'"?\s*:\s*').search(data, begin)
    return found.end() if found else begin
