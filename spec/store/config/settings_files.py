"""
The configuration files of a broker and of a name server, member by member.

``config_files`` has the clauses of the files, and ``spec.routing.topic_config`` reads
topics.json. The others are here, for any release, to read and to write. All are JSON of
fastjson's kind, in the forms of FILES.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from spec.clause import Clause, Level
from spec.store.config.filter_settings import FiltersFile
from spec.store.config.group_settings import GroupsFile, TableVersion
from spec.wire.bodies import fastjson
from spec.wire.bodies.fastjson_forms import dumps_pretty
from spec.wire.bodies.json_body import Body, Member, OpenBody, body_as_json

_MIX = "org.apache.rocketmq.common.MixAll"

FILES_ARE_PRETTY = Clause(
    id="STORE-SETTINGS-001",
    level=Level.SHOULD,
    text=(
        "Up to 5.3, configuration files are pretty-printed, a tab a level, except "
        "maps with integer keys, which stay on one line."
    ),
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#persist",
    until="5.3",
)
FILES_ARE_EVEN = Clause(
    id="STORE-SETTINGS-002",
    level=Level.SHOULD,
    text=(
        "From 5.4 on, configuration files are pretty-printed, a tab a level, and "
        "every member has a line of its own."
    ),
    source="5.4.0 observed in the files of a running broker",
    since="5.4",
)
EMPTY_MAPS_ARE_SHORT = Clause(
    id="STORE-SETTINGS-010",
    level=Level.SHOULD,
    text=(
        "From 5.5 on, an empty map in a configuration file is two braces. In 5.4 a "
        "line with tabs stands between them."
    ),
    source="5.5.0 observed in the files of a running broker",
    since="5.5",
)
FILES_ARE_RENAMED = Clause(
    id="STORE-SETTINGS-003",
    level=Level.MUST,
    text=(
        "Up to 5.0, a configuration file is written as .tmp, the old one is copied "
        "to .bak and deleted, and .tmp is renamed. A killed broker leaves either "
        "content whole, the old one perhaps as .bak only."
    ),
    source=f"4.6.0 {_MIX}#string2File",
    until="5.0",
)
FILES_ARE_OVERWRITTEN = Clause(
    id="STORE-SETTINGS-004",
    level=Level.QUIRK,
    text=(
        "From 5.1 to 5.3, a configuration file overwrites the old one, which is "
        "copied to .bak."
    ),
    source=f"5.3.3 {_MIX}#string2File",
    since="5.1",
    until="5.3",
)
FILES_ARE_MOVED = Clause(
    id="STORE-SETTINGS-011",
    level=Level.QUIRK,
    text=(
        "From 5.4 on, a configuration file is renamed to .bak before the new one is "
        "written. A broker that is killed between leaves only .bak."
    ),
    source="5.4.0 org.apache.rocketmq.common.ConfigManager#persist",
    since="5.4",
)
BACKUP_IS_READ = Clause(
    id="STORE-SETTINGS-005",
    level=Level.MUST,
    text=(
        "A broker that finds a configuration file empty or unreadable reads the "
        "file's .bak copy."
    ),
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#load",
)
KEY_VALUES_FILE = Clause(
    id="STORE-SETTINGS-006",
    level=Level.MUST,
    text=(
        "A name server writes kvConfig.json after every change, compact, with "
        "configTable: values by namespace and key."
    ),
    source="4.6.0 org.apache.rocketmq.namesrv.kvconfig.KVConfigManager#persist",
)
FILTERS_FILE = Clause(
    id="STORE-SETTINGS-007",
    level=Level.MUST,
    text=(
        "consumerFilter.json has, by topic and group, each SQL92 expression with its "
        "time, a flag for a group that is gone, and its bits."
    ),
    source="4.6.0 org.apache.rocketmq.broker.filter.ConsumerFilterManager#encode",
)
LIGHT_OFFSETS_FILE = Clause(
    id="STORE-SETTINGS-008",
    level=Level.MUST,
    text=(
        "From 4.9.3 on, a broker with enableLmq writes lmqConsumerOffset.json, with "
        "lmqOffsetTable, and no consumerOffset.json."
    ),
    source="4.9.7 org.apache.rocketmq.broker.offset.LmqConsumerOffsetManager"
    "#configFilePath",
    since="4.9.3",
)
GROUPS_AND_VERSIONS = Clause(
    id="STORE-SETTINGS-009",
    level=Level.SHOULD,
    text=(
        "From 5.0 on, consumerOffset.json and delayOffset.json have a dataVersion, "
        "and subscriptionGroup.json a forbiddenTable."
    ),
    source="5.3.3 org.apache.rocketmq.broker.offset.ConsumerOffsetManager#dataVersion",
    since="5.0",
)


class OffsetsFile(OpenBody, frozen=True, kw_only=True):
    """The file consumerOffset.json, and lmqConsumerOffset.json instead of it."""

    offsets: Annotated[
        Mapping[str, Mapping[int, int]],
        Member("offsetTable", "by TOPIC@GROUP and queue id"),
    ] = {}
    light_offsets: Annotated[
        Mapping[str, int] | None,
        Member(
            "lmqOffsetTable",
            "of light queues, by QUEUE@GROUP, if enableLmq is on",
            since="4.9.3",
        ),
    ] = None
    version: Annotated[TableVersion | None, Member("dataVersion", since="5.0")] = None
    topics_of_groups: Annotated[
        Mapping[str, tuple[str, ...]] | None,
        Member(
            "groupTopicMap", "what the offsets say too; nobody reads it", since="5.0"
        ),
    ] = None
    pull_offsets: Annotated[
        Mapping[str, Mapping[int, int]] | None,
        Member(
            "pullOffsetTable", "of last pulls, by TOPIC@GROUP and queue id", since="5.5"
        ),
    ] = None


class DelayOffsetsFile(OpenBody, frozen=True, kw_only=True):
    """The file delayOffset.json."""

    offsets: Annotated[
        Mapping[int, int], Member("offsetTable", "next to deliver, by level")
    ] = {}
    version: Annotated[TableVersion | None, Member("dataVersion", since="5.0")] = None


class KeyValuesFile(OpenBody, frozen=True, kw_only=True):
    """A name server's file kvConfig.json."""

    values: Annotated[
        Mapping[str, Mapping[str, str]], Member("configTable", "by namespace")
    ] = {}


class Count(OpenBody, frozen=True, kw_only=True):
    """A count and when it last changed (Java: Metric)."""

    count: Annotated[int, Member("count", "of messages")] = 0
    timestamp_ms: Annotated[int, Member("timeStamp")] = 0


class CountsFile(OpenBody, frozen=True, kw_only=True):
    """The files transactionMetrics and timermetrics: what waits, by topic."""

    transactions: Annotated[
        Mapping[str, Count] | None, Member("transactionCount", "half messages")
    ] = None
    timed: Annotated[
        Mapping[str, Count] | None, Member("timingCount", "of the timer")
    ] = None
    version: Annotated[TableVersion | None, Member("dataVersion")] = None


class Form(StrEnum):
    """Form of a file."""

    PRETTY = "pretty"
    """As :func:`spec.wire.bodies.fastjson_forms.dumps_pretty`."""
    COMPACT = "compact"


FILES: Mapping[str, tuple[type[Body], Form]] = MappingProxyType(
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
"""Content and form of each file; .bak after a name changes neither."""


def encode_settings(
    content: Body, *, form: Form = Form.PRETTY, release: str = "4.6.0"
) -> bytes:
    """Return the file of *release* that holds *content*."""
    shown = body_as_json(content)
    if form is Form.COMPACT:
        return fastjson.dumps(shown)
    return dumps_pretty(shown, release=release)
