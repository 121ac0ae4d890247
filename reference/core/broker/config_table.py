"""
A table of the broker with a data version: topics, subscription groups.

The table is persisted in a file of the directory config, and a slave copies it from its
master (Java: ConfigManager, DataVersion).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Generic, Protocol, TypeVar

from spec.wire.bodies.json_object import JsonObject, integer_in, object_in


class ReplicatedTable(Protocol):
    """A table that a slave copies from its master."""

    def as_json(self) -> Mapping[str, object]:
        """Return the JSON object of the file and of tools."""

    def synchronize(self, content: JsonObject, now_ms: int) -> None:
        """Use *content*, the table of the master; raise an error if it is invalid."""


class TableRow(Protocol):
    """One entry of a table."""

    @property
    def name(self) -> str:
        """The key in the table."""


Row = TypeVar("Row", bound=TableRow)


class ConfigTable(ABC, Generic[Row]):
    """Rows by name. *changed* receives the one row that changed, or None for all."""

    MEMBER: ClassVar[str]
    """Name of the rows in the table's JSON object."""

    def __init__(
        self, rows: Iterable[Row], *, now_ms: int, changed: Callable[[Row | None], None]
    ) -> None:
        self.table = {row.name: row for row in rows}
        self.timestamp_ms = now_ms
        self.counter = 0
        self._changed = changed

    @abstractmethod
    def row_of(self, value: JsonObject, name: str) -> Row:
        """Return the row of a JSON object; absent members have their default."""

    @abstractmethod
    def row_as_json(self, row: Row) -> dict[str, object]:
        """Return the JSON object of a row, for bodies and files."""

    def check_name(self, name: str) -> None:
        """Raise ValueError for a name that no row may have."""

    def put(self, row: Row, now_ms: int, *, changed: Row | None = None) -> Row:
        """Create or replace a row; *changed* is the row to report, None for all."""
        self.check_name(row.name)
        self.table[row.name] = row
        self.touch(now_ms)
        self._changed(changed)
        return row

    def delete(self, name: str, now_ms: int) -> None:
        """Delete a row, if it exists."""
        if self.table.pop(name, None) is not None:
            self.touch(now_ms)
            self._changed(None)

    def touch(self, now_ms: int) -> None:
        """Increment the version."""
        self.timestamp_ms = now_ms
        self.counter += 1

    def version(self) -> dict[str, int]:
        """Return the data version as a JSON object."""
        return {"counter": self.counter, "timestamp": self.timestamp_ms}

    def as_json(self, rows: Iterable[Row] | None = None) -> dict[str, object]:
        """Return the JSON object of the file and of tools, with all or some *rows*."""
        shown = self.table.values() if rows is None else rows
        members = {row.name: self.row_as_json(row) for row in shown}
        return {"dataVersion": self.version(), self.MEMBER: members}

    def load(self, content: JsonObject) -> None:
        """Add the rows of a file."""
        self._use(self.table, content)

    def synchronize(self, content: JsonObject, now_ms: int) -> None:  # noqa: ARG002
        """Replace the table by *content*, the table of the master, if it is valid."""
        found = content["dataVersion"]
        # [HA-SLAVE-004] [HA-SLAVE-007] [HA-SLAVE-018]
        if all(found.get(name) == number for name, number in self.version().items()):
            return
        for name in self._rows(content[self.MEMBER]):
            self.check_name(name)
        self._use({}, content)
        self._changed(None)

    def _use(self, table: dict[str, Row], content: JsonObject) -> None:
        """Have the rows of *table* and of *content*; with an error nothing changes."""
        rows = self._rows(object_in(content, self.MEMBER))
        version = object_in(content, "dataVersion")
        counter = integer_in(version, "counter", 0)
        self.timestamp_ms = integer_in(version, "timestamp", self.timestamp_ms)
        self.counter, self.table = counter, table | rows

    def _rows(self, members: JsonObject) -> dict[str, Row]:
        rows = [self.row_of(value, str(name)) for name, value in members.items()]
        return {row.name: row for row in rows}
