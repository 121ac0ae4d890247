"""
Spark data source ``rocketmq.config``: one row per value in the configuration files.

The files have one shape: an object of tables, a table of names, and below a name a
value or an object of values. ``consumerOffset.json`` has a row for the table
offsetTable, the name Orders@group and the key 0. ``topics.json`` has one for the table
topicConfigTable, the name Orders and the key perm. Deeper values stay JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_checks.readers.whole_files import Row, RowSource
from spark_checks.store_files import StoreFile
from spec.integers import INT64_MAX, INT64_MIN
from spec.layout import LayoutError
from spec.wire.bodies import fastjson

_LEVELS = ("table", "name", "key")


class ConfigSource(RowSource):
    """Reads configuration files. Options: ``url``, ``files`` (JSON)."""

    source_name = "rocketmq.config"

    @staticmethod
    def rows_of(data: bytes, file: StoreFile) -> Iterator[Row]:
        """Yield the rows of the configuration *file*."""
        path = file.path
        if len(data) < file.size:
            yield _damaged(path, 0, f"{file.size} bytes are above the read limit")
            return
        try:
            value = fastjson.loads(data)
        except (LayoutError, UnicodeDecodeError) as error:
            place = int(getattr(error, "offset", 0) or 0)
            yield _damaged(path, place, str(error).splitlines()[0])
            return
        if not isinstance(value, dict):
            yield _damaged(path, 0, "is not a JSON object")
            return
        for row in _leaves(value, _LEVELS):
            yield {"file": path, "kind": "value", **row}


def _damaged(path: str, position: int, reason: str) -> Row:
    return {"file": path, "position": position, "kind": "damaged", "reason": reason}


def _leaves(value: object, levels: tuple[str, ...]) -> Iterator[Row]:
    """Yield the values in *value*, down to the last of *levels*."""
    if not levels or not isinstance(value, dict) or not value:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        fits = is_integer and INT64_MIN <= int(str(value)) <= INT64_MAX
        yield {"value": _text(value), "number": value if fits else None}
        return
    for key, content in value.items():
        for row in _leaves(content, levels[1:]):
            yield {levels[0]: _text(key), **row}


def _text(value: object) -> str:
    """Return a string as it is, any other value as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):  # fastjson decodes an object used as a key to a tuple
        value = dict(value)
    return fastjson.dumps(value).decode("utf-8", "replace")
