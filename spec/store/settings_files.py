"""
The configuration files of a broker and of a name server, member by member.

``config_files`` says what the files promise, ``spec.routing.topic_config`` reads
topics.json. Here are the others, whole: what a broker of any release writes can be read
and written back. All are JSON of fastjson's kind, in the forms of FILES.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from spec.clause import Clause, Level
from spec.store.filter_settings import FiltersFile
from spec.store.group_settings import VERSION, GroupsFile, TableVersion
from spec.wire import fastjson
from spec.wire.fastjson_forms import dumps_pretty
from spec.wire.json_body import (
    INTEGER,
    TEXT,
    body_as_json,
    list_of,
    map_of,
    member,
    object_of,
    rest_of_members,
)

_MIX = "org.apache.rocketmq.common.MixAll"

FILES_ARE_PRETTY = Clause(
    id="STORE-SETTINGS-001",
    level=Level.SHOULD,
    text="Configuration files are pretty, a tab a level, but for maps with integer"
    " keys, which stay on one line.",
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#persist",
    until="5.3",
)
FILES_ARE_EVEN = Clause(
    id="STORE-SETTINGS-002",
    level=Level.SHOULD,
    text="Configuration files are pretty, a tab a level, and every member has a line of"
    " its own.",
    source="5.4.0 observed in the files of a running broker",
    since="5.4",
)
FILES_ARE_RENAMED = Clause(
    id="STORE-SETTINGS-003",
    level=Level.MUST,
    text="A configuration file is written beside the old one, as .tmp, and then takes"
    " its place, so that a crash leaves one of them whole.",
    source=f"4.6.0 {_MIX}#string2File",
    until="5.0",
)
FILES_ARE_OVERWRITTEN = Clause(
    id="STORE-SETTINGS-004",
    level=Level.QUIRK,
    text="A configuration file is written over the old one, of which .bak is a copy.",
    source=f"5.3.3 {_MIX}#string2File",
    since="5.1",
)
BACKUP_IS_READ = Clause(
    id="STORE-SETTINGS-005",
    level=Level.MUST,
    text="A broker that finds a configuration file empty or cannot read it reads the"
    " file of that name and .bak.",
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#load",
)
KEY_VALUES_FILE = Clause(
    id="STORE-SETTINGS-006",
    level=Level.MUST,
    text="A name server writes kvConfig.json after every change, compact, with"
    " configTable: texts by namespace and key.",
    source="4.6.0 org.apache.rocketmq.namesrv.kvconfig.KVConfigManager#persist",
)
FILTERS_FILE = Clause(
    id="STORE-SETTINGS-007",
    level=Level.MUST,
    text="consumerFilter.json has, by topic and group, each SQL expression with its"
    " time, whether its group is gone, and its bits.",
    source="4.6.0 org.apache.rocketmq.broker.filter.ConsumerFilterManager#encode",
)
LIGHT_OFFSETS_FILE = Clause(
    id="STORE-SETTINGS-008",
    level=Level.MUST,
    text="A broker with enableLmq writes lmqConsumerOffset.json, with lmqOffsetTable,"
    " and no consumerOffset.json.",
    source="4.9.7 org.apache.rocketmq.broker.offset.LmqConsumerOffsetManager"
    "#configFilePath",
    since="4.9.3",
)
GROUPS_AND_VERSIONS = Clause(
    id="STORE-SETTINGS-009",
    level=Level.SHOULD,
    text="consumerOffset.json and delayOffset.json have a dataVersion, and"
    " subscriptionGroup.json a forbiddenTable.",
    source="5.3.3 org.apache.rocketmq.broker.offset.ConsumerOffsetManager#dataVersion",
    since="5.0",
)

OFFSETS = map_of(TEXT, map_of(INTEGER, INTEGER))


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsFile:
    """The file consumerOffset.json, and lmqConsumerOffset.json instead of it."""

    offsets: Mapping[str, Mapping[int, int]] = member(
        "offsetTable", OFFSETS, "by TOPIC@GROUP and queue id", default=dict
    )
    light_offsets: Mapping[str, int] | None = member(
        "lmqOffsetTable",
        map_of(TEXT, INTEGER),
        "of light queues, by QUEUE@GROUP, if enableLmq is on",
        default=None,
        since="4.9.3",
    )
    version: TableVersion | None = member(  # noqa: RUF009 # a field
        "dataVersion", VERSION, "", default=None, since="5.0"
    )
    topics_of_groups: Mapping[str, tuple[str, ...]] | None = member(
        "groupTopicMap",
        map_of(TEXT, list_of(TEXT)),
        "what the offsets say too; nobody reads it",
        default=None,
        since="5.0",
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayOffsetsFile:
    """The file delayOffset.json."""

    offsets: Mapping[int, int] = member(
        "offsetTable",
        map_of(INTEGER, INTEGER),
        "next to deliver, by level",
        default=dict,
    )
    version: TableVersion | None = member(  # noqa: RUF009 # a field
        "dataVersion", VERSION, "", default=None, since="5.0"
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValuesFile:
    """A name server's file kvConfig.json."""

    values: Mapping[str, Mapping[str, str]] = member(
        "configTable", map_of(TEXT, map_of(TEXT, TEXT)), "by namespace", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A count and when it last changed (Java: Metric)."""

    count: int = member("count", INTEGER, "of messages", default=0)
    timestamp_ms: int = member("timeStamp", INTEGER, "", default=0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsFile:
    """The files transactionMetrics and timermetrics: what waits, by topic."""

    transactions: Mapping[str, Count] | None = member(
        "transactionCount",
        map_of(TEXT, object_of(Count)),
        "half messages",
        default=None,
    )
    timed: Mapping[str, Count] | None = member(
        "timingCount", map_of(TEXT, object_of(Count)), "of the timer", default=None
    )
    version: TableVersion | None = member("dataVersion", VERSION, "", default=None)  # noqa: RUF009 # a field
    rest: Mapping[str, object] = rest_of_members()


class Form(StrEnum):
    """How a file is written."""

    PRETTY = "pretty"
    """As :func:`spec.wire.fastjson_forms.dumps_pretty`."""
    COMPACT = "compact"


FILES: Mapping[str, tuple[type[Any], Form]] = MappingProxyType(
    {
        "subscriptionGroup.json": (GroupsFile, Form.PRETTY),
        "consumerOffset.json": (OffsetsFile, Form.PRETTY),
        "lmqConsumerOffset.json": (OffsetsFile, Form.PRETTY),
        "delayOffset.json": (DelayOffsetsFile, Form.PRETTY),
        "consumerFilter.json": (FiltersFile, Form.PRETTY),
        "kvConfig.json": (KeyValuesFile, Form.COMPACT),
        "transactionMetrics": (CountsFile, Form.COMPACT),
        "timermetrics": (CountsFile, Form.COMPACT),
    }
)
"""What each file holds and how it is written; .bak after a name changes neither."""


def encode_settings(
    content: object, *, form: Form = Form.PRETTY, is_even: bool = False
) -> bytes:
    """Return the file that holds *content*; *is_even* as since 5.4."""
    shown = body_as_json(content)
    if form is Form.COMPACT:
        return fastjson.dumps(shown)
    return dumps_pretty(shown, is_even=is_even)
