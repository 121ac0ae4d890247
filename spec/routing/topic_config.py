"""
A topic's configuration: its queue counts on a broker, and its permission.

The broker that serves a topic owns its configuration. It persists all of them in
``config/topics.json`` and registers them with every name server, as JSON or as one line
of text per topic (compressed).

Every table of configurations has a data version, by which a name server detects that it
already has this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag

from spec.clause import Clause, Level, release_key
from spec.layout import LayoutError
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import (
    JsonObject,
    as_integer,
    as_object,
    integer_in,
    object_in,
    text_in,
    truth_in,
)

FIRST_RELEASE = "4.4.0"
"""The release in whose form JSON is written where no other is named."""


class Permission(IntFlag):
    """Bits of a topic's permission (Java: PermName); other bits may be set too."""

    INHERIT = 1
    """New topics may be made in this one's image."""
    WRITE = 2
    READ = 4
    PRIORITY = 8


class TopicFlag(IntFlag):
    """Bits of a topic's flags (Java: topicSysFlag, on the wire also topicSynFlag)."""

    UNIT = 1
    """The topic belongs to one unit of a multi-site deployment."""
    UNIT_SUBSCRIPTION = 2
    """Some group subscribes to the topic across units."""


TOPIC_DEFAULTS = Clause(
    id="ROUTE-TOPIC-001",
    level=Level.MUST,
    text=(
        "A field that a topic's JSON omits has its default: 16 read and 16 write "
        "queues, permission PERM_READ and PERM_WRITE (6), no flags."
    ),
    source="4.6.0 org.apache.rocketmq.common.TopicConfig#defaultReadQueueNums",
)
TOPIC_LINE = Clause(
    id="ROUTE-TOPIC-002",
    level=Level.MUST,
    text="A topic in a compressed registration is one line: name, read queues, write"
    " queues, permission and filter type, with a space between.",
    source="4.6.0 org.apache.rocketmq.common.TopicConfig#encode",
)
TOPIC_LINE_HAS_NO_FLAGS = Clause(
    id="ROUTE-TOPIC-003",
    level=Level.QUIRK,
    text="A compressed registration loses a topic's flags: its route shows 0.",
    source="4.6.0 org.apache.rocketmq.common.TopicConfig#decode",
)
TOPIC_LINE_ATTRIBUTES = Clause(
    id="ROUTE-TOPIC-004",
    level=Level.MUST,
    text=(
        "From 5.0 on, a sixth word in a topic's line, its attributes, leaves the "
        "other five readable."
    ),
    source="5.3.3 org.apache.rocketmq.common.TopicConfig#decode",
    since="5.0",
)
TOPIC_LINE_OF_SIX_WORDS = Clause(
    id="ROUTE-TOPIC-005",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a topic's line of more than five words is not decoded: the "
        "registration fails, because the topic has no name."
    ),
    source="4.6.0 org.apache.rocketmq.common.protocol.body.RegisterBrokerBody#decode",
    until="4.9",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """One topic of one broker."""

    topic: str
    read_queue_count: int = 16
    write_queue_count: int = 16
    permission: int = 6
    """Bits of Permission (Java: perm)."""
    filter_type: str = "SINGLE_TAG"
    topic_flags: int = 0
    """Bits of TopicFlag (Java: topicSysFlag)."""
    is_order: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Since 5.0: the message type and the like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataVersion:
    """State of a table (Java: DataVersion); equal versions mean equal tables."""

    timestamp_ms: int = 0
    """Time of the table's last change."""
    counter: int = 0
    """Number of changes of the table."""
    state_version: int = 0
    """Since 5.0: the epoch of the controller that made the broker a master."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTable:
    """A broker's topics (Java: TopicConfigSerializeWrapper); also topics.json."""

    topics: Mapping[str, TopicConfig] = field(default_factory=dict)
    version: DataVersion = field(default_factory=DataVersion)

    @classmethod
    def of(cls, *topics: TopicConfig, version: DataVersion) -> TopicTable:
        """Return the table of *topics*."""
        return cls(topics={topic.topic: topic for topic in topics}, version=version)


def encode_topic_table(table: TopicTable) -> bytes:
    """Return the JSON of *table*."""
    return fastjson.dumps(topic_table_as_json(table))


def decode_topic_table(data: bytes) -> TopicTable:
    """Return the table that *data* holds, as a body or as the file topics.json."""
    return topic_table_from_json(as_object(fastjson.loads(data)))


def encode_data_version(version: DataVersion, release: str = FIRST_RELEASE) -> bytes:
    """Return the JSON of *version*, as a peer of *release* writes it."""
    return fastjson.dumps(data_version_as_json(version, release))


def decode_data_version(data: bytes) -> DataVersion:
    """Return the version that *data* holds."""
    return data_version_from_json(as_object(fastjson.loads(data)))


def encode_topic_line(topic: TopicConfig) -> str:
    """Return *topic* as the line that a compressed registration has for it."""
    words: list[object] = [topic.topic, topic.read_queue_count, topic.write_queue_count]
    words += [topic.permission, topic.filter_type]
    if topic.attributes:
        words.append(fastjson.dumps(dict(topic.attributes)).decode())
    return " ".join(map(str, words))


def decode_topic_line(line: str, *, takes_attributes: bool = True) -> TopicConfig:
    """Return the topic of one line of a compressed registration."""
    words = line.split(" ")
    if len(words) < 5 or (len(words) > 5 and not takes_attributes):
        raise LayoutError(f"{len(words)} words, a topic's line has 5", field="topic")
    attributes = (
        as_object(fastjson.loads(words[5])) if len(words) > 5 and words[5] else {}
    )
    return TopicConfig(
        topic=words[0],
        read_queue_count=as_integer(words[1], "readQueueNums"),
        write_queue_count=as_integer(words[2], "writeQueueNums"),
        permission=as_integer(words[3], "perm"),
        filter_type=words[4],
        attributes={str(key): str(value) for key, value in attributes.items()},
    )


def topic_table_as_json(
    table: TopicTable, release: str = FIRST_RELEASE
) -> dict[str, object]:
    """Return *table* as the object that a peer of *release* writes as JSON."""
    topics = {
        name: topic_as_json(topic, release) for name, topic in table.topics.items()
    }
    version = data_version_as_json(table.version, release)
    return {"dataVersion": version, "topicConfigTable": topics}


def has_members_of_5(release: str) -> bool:
    """Return whether a peer of *release* writes the members that 5.0 added.

    fastjson writes a member that is empty or 0, and leaves out one that is null. These
    members are never null. 5.3.3 org.apache.rocketmq.common.TopicConfig#attributes,
    org.apache.rocketmq.remoting.protocol.DataVersion#stateVersion.
    """
    return release_key(release) >= (5,)


def topic_table_from_json(found: JsonObject) -> TopicTable:
    """Return the table that the object *found* shows."""
    topics = {}
    for name, topic in object_in(found, "topicConfigTable").items():
        topics[str(name)] = topic_from_json(
            as_object(topic, f"topicConfigTable.{name}")
        )
    version = data_version_from_json(object_in(found, "dataVersion"))
    return TopicTable(topics=topics, version=version)


def topic_as_json(
    topic: TopicConfig, release: str = FIRST_RELEASE
) -> dict[str, object]:
    """Return *topic* as the object that a peer of *release* writes as JSON."""
    shown: dict[str, object] = {
        "order": topic.is_order,
        "perm": topic.permission,
        "readQueueNums": topic.read_queue_count,
        "topicFilterType": topic.filter_type,
        "topicName": topic.topic,
        "topicSysFlag": topic.topic_flags,
        "writeQueueNums": topic.write_queue_count,
    }
    if topic.attributes or has_members_of_5(release):
        shown["attributes"] = dict(topic.attributes)
    return shown


def topic_from_json(found: JsonObject) -> TopicConfig:
    """Return the topic that the object *found* shows."""
    attributes = object_in(found, "attributes")
    return TopicConfig(
        topic=text_in(found, "topicName"),
        read_queue_count=integer_in(found, "readQueueNums", 16),
        write_queue_count=integer_in(found, "writeQueueNums", 16),
        permission=integer_in(found, "perm", 6),
        filter_type=text_in(found, "topicFilterType", "SINGLE_TAG"),
        topic_flags=integer_in(found, "topicSysFlag", 0),
        is_order=truth_in(found, "order"),
        attributes={str(key): str(value) for key, value in attributes.items()},
    )


def data_version_as_json(
    version: DataVersion, release: str = FIRST_RELEASE
) -> dict[str, object]:
    """Return *version* as the object that a peer of *release* writes as JSON."""
    shown: dict[str, object] = {"counter": version.counter}
    shown["timestamp"] = version.timestamp_ms
    if version.state_version or has_members_of_5(release):
        shown["stateVersion"] = version.state_version
    return shown


def data_version_from_json(found: JsonObject) -> DataVersion:
    """Return the version that the object *found* shows."""
    return DataVersion(
        timestamp_ms=integer_in(found, "timestamp", 0),
        counter=integer_in(found, "counter", 0),
        state_version=integer_in(found, "stateVersion", 0),
    )
