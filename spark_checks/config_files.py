"""Tables of a store's configuration files, and the consumed offsets in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spark_checks.file_systems import NotAStoreError
from spark_checks.store_files import Store, read_whole
from spec.layout import LayoutError
from spec.store.config.config_files import consumer_offsets_path
from spec.wire.bodies import fastjson

TOPICS = "config/topics.json"
GROUPS = "config/subscriptionGroup.json"
CONSUMED_OFFSETS = "config/consumerOffset.json"
DELIVERED_OFFSETS = "config/delayOffset.json"
LMQ_CONSUMED_OFFSETS = "config/lmqConsumerOffset.json"
"""Consumed offsets of a broker with enableLmq (STORE-SETTINGS-008)."""
DIGITS_MAX = 19
"""Digits of a queue id or level that is read; Java's longs have no more."""
CONSUMED = (CONSUMED_OFFSETS, LMQ_CONSUMED_OFFSETS)
TABLES: Mapping[str, str] = {
    "topics.json": "topicConfigTable",
    "subscriptionGroup.json": "subscriptionGroupTable",
    "consumerOffset.json": "offsetTable",
    "delayOffset.json": "offsetTable",
    "consumerFilter.json": "filterDataByTopic",
}
"""Member with the table of each file, which every release writes, be it empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """A configuration file, which may be missing or unreadable."""

    path: str
    data: bytes = b""
    value: object = None
    """Value in the file; None if it is missing or not JSON."""
    error: LayoutError | None = None

    @property
    def members(self) -> Mapping[str, object]:
        """Members of the object in the file."""
        return object_of(self.value)

    @property
    def has_table(self) -> bool:
        """Whether the file can be read and has its table."""
        return isinstance(self.members.get(self._table), dict)

    @property
    def entries(self) -> Mapping[str, object]:
        """Entries of its table."""
        return object_of(self.members.get(self._table))

    @property
    def _table(self) -> str:
        return TABLES.get(self.path.rpartition("/")[2], "offsetTable")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffset:
    """Consumed offset of a group, as it stands in a file."""

    file: ConfigFile
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
    def place(self) -> tuple[str, tuple[int, int]]:
        """File of the offset, its position and its length."""
        position = place_of(self.file.data, self.name, self.queue)
        return self.file.path, (position, len(str(self.offset)))


def config_file(store: Store, path: str) -> ConfigFile:
    """Return the configuration file of *store* at *path*.

    It is missing if a running broker has renamed it since the listing.
    """
    file = store.file(path)
    if file is None:
        return ConfigFile(path=path)
    try:
        data = read_whole(store.url, file)
    except NotAStoreError as error:
        if error.is_file_gone:
            return ConfigFile(path=path)
        raise
    try:
        return ConfigFile(path=path, data=data, value=fastjson.loads(data))
    except LayoutError as error:
        return ConfigFile(path=path, data=data, error=error)


def consumed_path(store: Store) -> str:
    """Return the path of the file from which the broker reads consumed offsets."""
    return consumer_offsets_path(lambda path: store.file(path) is not None)


def consumed_offsets(store: Store) -> Iterator[GroupOffset]:
    """Yield the offsets in the files CONSUMED of *store*."""
    for path in CONSUMED:
        yield from offsets_in(config_file(store, path))


def offsets_in(file: ConfigFile) -> Iterator[GroupOffset]:
    """Yield the consumed offsets in *file*."""
    for name, offsets in file.entries.items():
        for queue, offset in object_of(offsets).items():
            yield GroupOffset(file=file, name=name, queue=queue, offset=offset)


def object_of(value: object) -> Mapping[str, object]:
    """Return *value* with its keys as text if it is an object, else no members."""
    if not isinstance(value, dict):
        return {}
    return {str(key): entry for key, entry in value.items()}


def numbers_of(offsets: object) -> dict[int, int]:
    """Return the offsets by queue id or level in an object of a table."""
    pairs = offsets.items() if isinstance(offsets, Mapping) else ()
    return {
        int(str(key)): offset
        for key, offset in pairs
        if is_number(str(key)) and isinstance(offset, int)
    }


def is_number(text: str) -> bool:
    """Return whether *text* is a queue id or level; Python refuses 4,301 digits."""
    return text.isdecimal() and len(text) <= DIGITS_MAX


def place_of(data: bytes, name: str, key: str) -> int:
    """Return the position of the value of *key* in the object *name*.

    It is 0 where the file has the name with escapes, as for half a surrogate pair.
    """
    begin = max(data.find(f'"{name}"'.encode("utf-8", "surrogatepass")), 0)
    before, after = rb'[{,]\s*"?', rb'"?\s*:\s*'
    pattern = re.compile(
        before + re.escape(key.encode("utf-8", "surrogatepass")) + after
    )
    found = pattern.search(data, begin)
    return found.end() if found else begin
