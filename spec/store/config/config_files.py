"""
The files in a store's directory ``config``: a broker's tables beside messages.

They are JSON in fastjson's dialect, one object each. A broker rewrites a file when its
table changes (topics, groups) or every few seconds (offsets). It writes a new file,
which then replaces the old one. The previous content stays as ``.bak``, which is loaded
if the file itself is unreadable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from spec.clause import Clause, Level
from spec.layout import LayoutError
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import as_integer, as_object, integer_in, object_in

TOPICS_FILE = "topics.json"
"""spec.routing.topic_config reads it."""
CONSUMER_OFFSETS_FILE = "consumerOffset.json"
LMQ_CONSUMER_OFFSETS_FILE = "lmqConsumerOffset.json"
CONSUMER_FILTERS_FILE = "consumerFilter.json"
DELAY_OFFSETS_FILE = "delayOffset.json"
GROUPS_FILE = "subscriptionGroup.json"
STATIC_TOPICS_FILE = "topicQueueMapping.json"
BACKUP_SUFFIX = ".bak"

_FILES = "4.6.0 org.apache.rocketmq.common.MixAll#string2File"
_TOPICS = "4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"

TOPICS_HAVE_CREATED = Clause(
    id="STORE-CONFIG-001",
    level=Level.MUST,
    text="topics.json has every topic of the broker with its queue counts, permission"
    " and flags, soon after it was created.",
    source=f"{_TOPICS}#updateTopicConfig",
)
TOPICS_VERSION = Clause(
    id="STORE-CONFIG-002",
    level=Level.MUST,
    text="The data version's counter in topics.json grows with every topic that is"
    " created.",
    source=f"{_TOPICS}#updateTopicConfig",
)
TOPICS_HAVE_OWN = Clause(
    id="STORE-CONFIG-003",
    level=Level.SHOULD,
    text="topics.json also has the topics that the broker makes for itself, such as"
    " TBW102.",
    source=f"{_TOPICS}#TopicConfigManager",
)
GROUPS_HAVE_CREATED = Clause(
    id="STORE-CONFIG-004",
    level=Level.MUST,
    text="subscriptionGroup.json has every group by name, with its retryMaxTimes and"
    " retryQueueNums, soon after it was created.",
    source="4.6.0 org.apache.rocketmq.broker.subscription"
    ".SubscriptionGroupManager#updateSubscriptionGroupConfig",
)
OFFSETS_BY_TOPIC_AND_GROUP = Clause(
    id="STORE-CONFIG-005",
    level=Level.MUST,
    text=(
        "After an orderly stop consumerOffset.json has, under TOPIC@GROUP, the "
        "committed offset of every queue."
    ),
    source="4.6.0 org.apache.rocketmq.broker.offset.ConsumerOffsetManager#offsetTable",
)
OFFSETS_BARE_QUEUE_IDS = Clause(
    id="STORE-CONFIG-006",
    level=Level.QUIRK,
    text="The queue ids of consumerOffset.json are keys without quotes, which is not"
    " JSON.",
    source="4.6.0 org.apache.rocketmq.broker.offset.ConsumerOffsetManager#encode",
)
DELAY_OFFSETS_BY_LEVEL = Clause(
    id="STORE-CONFIG-007",
    level=Level.MUST,
    text="delayOffset.json has, by delay level, the offset of the next message to"
    " deliver, soon after one was delivered.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService#encode",
)
BACKUP_IS_THE_ONE_BEFORE = Clause(
    id="STORE-CONFIG-008",
    level=Level.SHOULD,
    text=(
        "A configuration file that was written twice has its previous content in a "
        "file of its name and .bak."
    ),
    source=_FILES,
)
TOPICS_FIELDS = Clause(
    id="STORE-CONFIG-012",
    level=Level.MUST,
    text=(
        "topics.json of the broker, in its store's directory config, has for each "
        "topic order, perm, readQueueNums, topicFilterType, topicName, topicSysFlag "
        "and writeQueueNums."
    ),
    source="4.6.0 org.apache.rocketmq.common.TopicConfig",
    hints=(("topic.json, at the name server", "name servers keep no topics"),),
)
BACKUP_IS_READ = Clause(
    id="STORE-CONFIG-013",
    level=Level.MUST,
    text="A broker that finds topics.json empty or unreadable loads topics.json.bak.",
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#load",
    issues=(
        "apache/rocketmq#9705",
        "apache/rocketmq#7729",
        "apache/rocketmq#6096",
        "apache/rocketmq#3401",
    ),
)
ALL_FALL_BACK = Clause(
    id="STORE-CONFIG-014",
    level=Level.MUST,
    text=(
        "A broker that finds subscriptionGroup.json, consumerOffset.json or "
        "delayOffset.json empty or unreadable loads the file's .bak copy."
    ),
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#load",
)
NOTHING_IS_KNOWN = Clause(
    id="STORE-CONFIG-015",
    level=Level.QUIRK,
    text=(
        "A broker whose configuration files are unreadable or empty, and have no "
        ".bak copy, starts without an error and without its topics, groups and "
        "offsets; the messages stay."
    ),
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#loadBak",
)
BOTH_UNREADABLE = Clause(
    id="STORE-CONFIG-016",
    level=Level.MUST,
    text=(
        "A broker does not start if topics.json, subscriptionGroup.json, "
        "consumerOffset.json or delayOffset.json and its .bak copy are unreadable."
    ),
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#loadBak",
)
ONE_REFUSED_FILE = Clause(
    id="STORE-CONFIG-017",
    level=Level.SHOULD,
    text=(
        "A broker that cannot write consumerOffset.json still delivers delayed "
        "messages and writes delayOffset.json."
    ),
    source="4.6.0 org.apache.rocketmq.common.ConfigManager#persist",
)
PULL_OFFSET_TABLE = Clause(
    id="STORE-CONFIG-018",
    level=Level.SHOULD,
    text=(
        "From 5.5 on, consumerOffset.json has a pullOffsetTable: by TOPIC@GROUP and "
        "queue id, the offset behind the group's last pull."
    ),
    source="5.5.0 org.apache.rocketmq.broker.offset.ConsumerOffsetManager"
    "#getPullOffsetTable",
    since="5.5",
)
REFUSED_PULL_OFFSETS = Clause(
    id="STORE-CONFIG-019",
    level=Level.QUIRK,
    text=(
        "A broker of 5.4 does not start if consumerOffset.json and its .bak copy "
        "have a pullOffsetTable with an entry, as 5.5 writes it."
    ),
    source="5.4.0 org.apache.rocketmq.broker.offset.ConsumerOffsetManager"
    "#pullOffsetTable",
    since="5.4",
    until="5.4",
)
ABORT_GOES_WITH_A_STOP = Clause(
    id="STORE-CONFIG-009",
    level=Level.MUST,
    text="After an orderly stop there is no file abort, and all files are complete.",
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#shutdown",
)
ABORT_IS_EMPTY = Clause(
    id="STORE-CONFIG-010",
    level=Level.MAY,
    text="Up to 4.9, the file abort is empty.",
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#createTempFile",
    until="4.9",
)
ABORT_HAS_PROCESS_ID = Clause(
    id="STORE-CONFIG-011",
    level=Level.MAY,
    text=(
        "From 5.0 on, the file abort holds the broker's process id in decimal digits."
    ),
    source="5.3.3 org.apache.rocketmq.store.DefaultMessageStore#createTempFile",
    since="5.0",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerOffsets:
    """Committed offsets of groups (Java: ConsumerOffsetManager)."""

    offsets: Mapping[tuple[str, str], Mapping[int, int]] = field(default_factory=dict)
    """By topic and group, then by queue id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """The settings of one group that a store test needs."""

    group: str
    retry_max_times: int
    retry_queue_count: int


def consumer_offsets_path(exists: Callable[[str], bool]) -> str:
    """Return the path of the consumed offsets that a broker since 4.9.3 reads.

    It has enableLmq if LMQ_CONSUMER_OFFSETS_FILE *exists* in the store, or its copy
    alone (STORE-SETTINGS-008).
    """
    path = f"config/{LMQ_CONSUMER_OFFSETS_FILE}"
    has_lmq = exists(path) or exists(path + BACKUP_SUFFIX)
    return path if has_lmq else f"config/{CONSUMER_OFFSETS_FILE}"


def encode_consumer_offsets(table: ConsumerOffsets) -> bytes:
    """Return the content of consumerOffset.json."""
    shown = {f"{t}@{g}": dict(queues) for (t, g), queues in table.offsets.items()}
    return fastjson.dumps({"offsetTable": shown})


def decode_consumer_offsets(data: bytes) -> ConsumerOffsets:
    """Return the content of consumerOffset.json."""
    found: dict[tuple[str, str], dict[int, int]] = {}
    table = object_in(as_object(fastjson.loads(data)), "offsetTable")
    for name, queues in table.items():
        topic, at, group = str(name).partition("@")
        if not at:
            raise LayoutError(f"{name!r} is not TOPIC@GROUP", field="offsetTable")
        found[topic, group] = _numbers(queues, f"offsetTable.{name}")
    return ConsumerOffsets(offsets=found)


def encode_delay_offsets(offsets: Mapping[int, int]) -> bytes:
    """Return the content of delayOffset.json."""
    return fastjson.dumps({"offsetTable": dict(offsets)})


def decode_delay_offsets(data: bytes) -> dict[int, int]:
    """Return the content of delayOffset.json: queue offsets by delay level."""
    found = as_object(fastjson.loads(data))
    return _numbers(object_in(found, "offsetTable"), "offsetTable")


def decode_groups(data: bytes) -> dict[str, GroupSettings]:
    """Return the content of subscriptionGroup.json, by group."""
    table = object_in(as_object(fastjson.loads(data)), "subscriptionGroupTable")
    groups = {}
    for name, settings in table.items():
        shown = as_object(settings, f"subscriptionGroupTable.{name}")
        groups[str(name)] = GroupSettings(
            group=str(name),
            retry_max_times=integer_in(shown, "retryMaxTimes", 16),
            retry_queue_count=integer_in(shown, "retryQueueNums", 1),
        )
    return groups


def _numbers(value: object, name: str) -> dict[int, int]:
    """Return the integers by integer key that *value* shows."""
    pairs = as_object(value, name).items()
    return {as_integer(key, name): as_integer(number, name) for key, number in pairs}
