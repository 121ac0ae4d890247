"""
Members of a store's configuration files, as the specification declares them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from spec.routing.topic_config import (
    DataVersion,
    TopicConfig,
    TopicTable,
    topic_table_as_json,
)
from spec.store.config.config_files import TOPICS_FILE
from spec.store.config.settings_files import FILES
from spec.store.epoch_file import EPOCH_FILE, Epoch
from spec.wire.bodies.json_body import Body, members

ANY = "*"
"""Stands for the keys of a map."""
_OF_NAME_SERVER = "kvConfig.json"


@cache
def config_members() -> Mapping[str, list[str]]:
    """Return the members of each configuration file, with dots between levels."""
    found = {TOPICS_FILE: list(_leaves_of_topics())}
    for name, (body, _) in FILES.items():
        if name != _OF_NAME_SERVER:
            found[name] = list(_leaves_of(body, ""))
    of_epochs = (f"epochs.{ANY}.{name}" for name in Epoch._fields)
    found[EPOCH_FILE] = ["count", "checksum", *of_epochs]
    return found


def _leaves_of_topics() -> Iterator[str]:
    table = TopicTable.of(
        TopicConfig(topic=ANY, attributes={"a": "b"}),
        version=DataVersion(state_version=1),
    )
    for member, value in topic_table_as_json(table).items():
        entries = {"": value} if member == "dataVersion" else value
        assert isinstance(entries, dict)
        for key, entry in entries.items():
            prefix = f"{member}.{key}." if key else f"{member}."
            yield from (f"{prefix}{name}" for name in entry)


def _leaves_of(body: type[Body], prefix: str) -> Iterator[str]:
    hints = get_type_hints(body)
    for name, member, _, _ in members(body):
        yield from _leaves_of_type(hints[name], f"{prefix}{member.java_name}")


def _leaves_of_type(hint: Any, path: str) -> Iterator[str]:
    """Yield the leaves of a member with the type *hint*; lists are leaves."""
    if get_origin(hint) in {Union, types.UnionType}:
        hint = next(one for one in get_args(hint) if one is not type(None))
    if get_origin(hint) is Mapping:
        yield from _leaves_of_type(get_args(hint)[1], f"{path}.{ANY}")
    elif isinstance(hint, type) and issubclass(hint, Body):
        yield from _leaves_of(hint, f"{path}.")
    else:
        yield path
