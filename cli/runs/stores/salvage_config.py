"""Config files of a salvaged store: those of the original, with offsets that moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from reference.core.recovery_forecast.config_state import PULL_OFFSETS
from reference.core.salvage.queue_offsets import QueueName, QueueOffsets
from reference.core.store.recovery.load import DirectoryEntry, load_config
from reference.shell.storage.read_only_files import ReadOnlyStore
from spec.routing.topic_config import TopicConfig, topic_as_json, topic_table_from_json
from spec.store.batch_queue import BATCH, queue_type
from spec.store.config.config_files import (
    BACKUP_SUFFIX,
    CONSUMER_FILTERS_FILE,
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    LMQ_CONSUMER_OFFSETS_FILE,
    STATIC_TOPICS_FILE,
    TOPICS_FILE,
)
from spec.store.file_names import CONFIG, ROCKSDB_CURRENT
from spec.wire.bodies.fastjson_forms import dumps_pretty
from spec.wire.bodies.json_object import JsonObject, as_integer, as_object
from spec.wire.message.topic_names import SCHEDULE_TOPIC, UNLISTED_BEGINS

TABLES = {
    TOPICS_FILE: "topicConfigTable",
    GROUPS_FILE: "subscriptionGroupTable",
    CONSUMER_OFFSETS_FILE: "offsetTable",
    LMQ_CONSUMER_OFFSETS_FILE: "offsetTable",
    DELAY_OFFSETS_FILE: "offsetTable",
}
"""Files without whose table the .bak is read."""
KEPT = (
    *(GROUPS_FILE, CONSUMER_FILTERS_FILE, STATIC_TOPICS_FILE),
    *("messageRequestMode.json", "transactionMetrics"),
)
"""Files without offsets, which are kept as they are."""
LOST_FILES = {
    "consumerOrderInfo.json": "messages popped in order and not acknowledged are"
    " delivered again, before their invisible time ends",
    "tieredStoreMetadata.json": "messages in tiered storage are not served",
}
"""Files with offsets that are not kept if a table has content, and the effect.

5.3.3 org.apache.rocketmq.broker.offset.ConsumerOrderInfoManager, and
org.apache.rocketmq.tieredstore.metadata.DefaultMetadataStore.
"""
COMPACTION_LOG = "compaction/compactionLog"
"""Directory of compacted topics: 5.3.3 org.apache.rocketmq.store.kv.CompactionStore.

A broker serves them only from there (DefaultMessageStore#getMessage).
"""
LOST_DATABASES = {
    "kvStore": "messages popped and not acknowledged may not be delivered again",
    "rocksdbstore": "its timed and half messages may not be delivered",
}
"""RocksDB databases beside the log, and the effect of their loss.

5.3.3 org.apache.rocketmq.broker.pop.PopConsumerService (ROCKSDB_DIRECTORY), and 5.4.0
org.apache.rocketmq.store.rocksdb.MessageRocksDBStorage. Each broker since 5.4 has the
latter, most of them without a record.
"""
ACCESS = {
    "users": "users have to be made again",
    "acls": "ACLs have to be made again",
}
"""RocksDB databases of access control, and the effect of their loss.

5.3.3 org.apache.rocketmq.auth: LocalAuthenticationMetadataProvider, and
LocalAuthorizationMetadataProvider.
"""
_COMPACTED = "earlier messages of compacted topics may not be served"
_MADE_ANEW = "topics have the queues of their messages, groups no committed offsets"
_OF_V2 = "; a broker with configManagerVersion=v2 has no topics before you create them"
"""Effect of the loss of config/rdb: 5.3.3 org.apache.rocketmq.broker.config.v2.

Such a broker does not read topics.json.
"""
Table = dict[str, Any]
Committed: TypeAlias = Callable[[QueueName, int], int]
"""Function of a queue and an original offset in it; returns the new offset."""


class ConfigChanges(NamedTuple):
    """Differences of the new config files from the original ones."""

    warnings: list[str]
    lowered: list[QueueName]
    """Queue of each committed or delivered offset that was behind the new end."""
    has_batch_topics: bool
    """Whether a topic has queues of the type BatchCQ.

    A broker does not start with any others of it: 5.3.3
    org.apache.rocketmq.store.queue.ConsumeQueueStore#queueTypeShouldBe.
    """
    added_topics: list[str]
    """Topics with messages that the original topics.json did not have.

    They were deleted, unless it is damaged.
    """


def write_config(
    view: ReadOnlyStore, target: Path, offsets: QueueOffsets
) -> ConfigChanges:
    """Write the config files of the new store."""
    lowered: list[QueueName] = []

    def committed(name: QueueName, offset: int) -> int:
        new = offsets.committed(name, offset)
        if new < offsets.moved(name, offset):
            lowered.append(name)
        return new

    def consumer_offsets(found: Table) -> Table:
        return _consumer_offsets(found, committed, offsets.committed)

    directory = target / CONFIG
    directory.mkdir()
    makers: dict[str, Callable[[Table], Table]] = {
        **dict.fromkeys(KEPT, lambda found: found),
        TOPICS_FILE: lambda found: _topics(found, offsets),
        CONSUMER_OFFSETS_FILE: consumer_offsets,
        LMQ_CONSUMER_OFFSETS_FILE: consumer_offsets,
        DELAY_OFFSETS_FILE: lambda found: _delay_offsets(found, committed),
    }
    warnings = _left_behind(view)
    has_batch_topics = False
    added: list[str] = []
    for name, made in makers.items():
        found, report = _loaded(view, name)
        if report:
            warnings.append(f"{CONFIG}/{name} {report}")
        if found is None and name != TOPICS_FILE:
            continue
        new = made(found or {})
        if name == TOPICS_FILE:
            topics = new["topicConfigTable"]
            has_batch_topics = BATCH in map(queue_type, topics.values())
            added = _added_topics(found or {}, topics)
        (directory / name).write_bytes(dumps_pretty(new))
    return ConfigChanges(warnings, lowered, has_batch_topics, added)


def _added_topics(found: Table, topics: Table) -> list[str]:
    """Return those of *topics* that *found* does not have, if it has any."""
    known = found.get("topicConfigTable") or topics
    new = sorted({*topics} - {*known})
    return [topic for topic in new if not topic.startswith(UNLISTED_BEGINS)]


def _left_behind(view: ReadOnlyStore) -> list[str]:
    """Return a line about a missing config, and about all that is not copied."""
    names = [one.name for one in view.entries(CONFIG)]
    found = [one for one in names if view.exists(f"{CONFIG}/{one}/{ROCKSDB_CURRENT}")]
    tables = ", ".join(f"{CONFIG}/{one}" for one in found if one not in ACCESS)
    lost = {tables: _MADE_ANEW + _OF_V2 * ("rdb" in found)} if tables else {}
    lost |= {f"{CONFIG}/{one}": ACCESS[one] for one in found if one in ACCESS}
    for name, effect in LOST_DATABASES.items():
        if any(map(_has_records, view.entries(name))):
            lost[name] = effect
    lines = [f"{name}: RocksDB, not copied; {effect}" for name, effect in lost.items()]
    for name, effect in LOST_FILES.items():
        content = _loaded(view, name)[0] or {}
        if any(isinstance(one, Mapping) and one for one in content.values()):
            lines.append(f"{CONFIG}/{name}: not copied; {effect}")
    if view.entries(COMPACTION_LOG):
        lines.append(f"compaction: not copied; {_COMPACTED}")
    missing = f"{CONFIG}: no files; {_MADE_ANEW}, delay levels no offsets"
    return lines if names else [missing, *lines]


def _has_records(file: DirectoryEntry) -> bool:
    """Return whether a file of RocksDB has records: a table, or a log with content."""
    return file.name.endswith(".sst") or (
        file.name.endswith(".log") and bool(file.size)
    )


def _loaded(view: ReadOnlyStore, name: str) -> tuple[Table | None, str]:
    """Return the object in the file, or in its .bak, and a report unless it is read.

    The .bak of a blank file is read too, although a broker up to 5.3 does not.
    """
    path = f"{CONFIG}/{name}"
    text, backup = view.text(path), view.text(path + BACKUP_SUFFIX)
    loaded = load_config(text, backup, lambda found: _checked(name, found), ("null",))
    is_absent = (text, backup) == (None, None) or loaded.source == "file"
    return loaded.value, "" if is_absent else loaded.report


def _checked(name: str, found: JsonObject) -> Table:
    """Return *found*; raise ValueError if it is not what the file has to hold."""
    table = {str(key): value for key, value in found.items()}
    if name in TABLES:
        as_object(found.get(TABLES[name]), TABLES[name])
    if name == TOPICS_FILE:
        topic_table_from_json(found)
    elif name == DELAY_OFFSETS_FILE:
        _delay_offsets(table, _unmoved)
    elif name in (CONSUMER_OFFSETS_FILE, LMQ_CONSUMER_OFFSETS_FILE):
        _consumer_offsets(table, _unmoved, _unmoved)
    return table


def _unmoved(_name: QueueName, offset: int) -> int:
    return offset


def _topics(found: Table, offsets: QueueOffsets) -> Table:
    """Return the topics, and those of readable records that the file does not have.

    A broker with its topics in RocksDB reads only a file with changes: 5.3.3
    org.apache.rocketmq.broker.config.v1.RocksDBTopicConfigManager#merge.
    """
    table = dict(found.get("topicConfigTable", {}))
    counts: dict[str, int] = {}
    for topic, queue_id in offsets.counts:
        counts[topic] = max(counts.get(topic, 0), queue_id + 1)
    for topic, count in counts.items():
        made = TopicConfig(topic=topic, read_queue_count=count, write_queue_count=count)
        table.setdefault(topic, topic_as_json(made))
    version = {"counter": 1, "timestamp": 0}
    return {"dataVersion": version, **found, "topicConfigTable": table}


def _consumer_offsets(found: Table, committed: Committed, pulled: Committed) -> Table:
    """Return the offsets by TOPIC@GROUP: the committed, and those of last pulls.

    A pop with popConsumerKVServiceEnable begins at the latter (5.3.3
    org.apache.rocketmq.broker.pop.PopConsumerService#getPopOffset).
    """
    table = {**found, "offsetTable": _by_group(found["offsetTable"], committed)}
    if PULL_OFFSETS in found:
        table[PULL_OFFSETS] = _by_group(found[PULL_OFFSETS], pulled)
    return table


def _by_group(found: JsonObject, moved: Committed) -> Table:
    table = {}
    for name, queues in found.items():
        topic = str(name).partition("@")[0]
        table[name] = {
            int(number): moved(
                QueueName(topic, int(number)), as_integer(offset, str(name))
            )
            for number, offset in as_object(queues, str(name)).items()
        }
    return table


def _delay_offsets(found: Table, committed: Committed) -> Table:
    """Return the offsets by delay level; level 1 is queue 0."""
    table: Mapping[Any, object] = found["offsetTable"]
    moved = {
        int(level): committed(
            QueueName(SCHEDULE_TOPIC, int(level) - 1), as_integer(offset, str(level))
        )
        for level, offset in table.items()
    }
    return {**found, "offsetTable": moved}
