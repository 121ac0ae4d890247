"""Garbage in the files of config: what a broker then starts with, if it does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

import pytest

from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_fields,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.recovery.damaged_files.original import COMMITTED, MANY, Original
from conformance.recovery.queue_checks import ends_of
from conformance.recovery.restart import starts
from spec.routing.topic_config import decode_topic_table
from spec.store.batch_queue import BATCH, BATCH_QUEUE, QUEUE_TYPE, SIMPLE
from spec.store.config.config_files import (
    BACKUP_SUFFIX,
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
)
from spec.store.config.settings_files import OffsetsFile
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.json_object import as_object, object_in

pytestmark = pytest.mark.needs("store", "wire", "config", "kill")

FILES = (TOPICS_FILE, GROUPS_FILE, CONSUMER_OFFSETS_FILE, DELAY_OFFSETS_FILE)
TEXT = b'{"dataVersion":{"counter":1'
SHAPE = b'{"topicConfigTable":[1],"subscriptionGroupTable":[1],"offsetTable":[1]}'
KINDS = (TEXT, b"", bytes(200), SHAPE)
"""Content after a crash in the middle of a write, or before it, or from an editor."""
PULLED = 3
"""Offset of a pull."""
ROUNDS = len(KINDS) if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 1
"""In each the files have another kind of garbage; one round has all kinds."""


def corrupt_all(files: StoreFiles, number: int) -> None:
    """Write garbage into all files, of a kind that follows from *number*."""
    for place, name in enumerate(FILES):
        content = KINDS[(place + number) % len(KINDS)]
        files.config(name).write_bytes(content)


def backed_up(files: StoreFiles, names: Iterable[str]) -> None:
    """Let the files have the content of their backups."""
    for name in names:
        shutil.copy(files.config(name), files.config(name + BACKUP_SUFFIX))


def without_backups(files: StoreFiles) -> None:
    """Delete all backups."""
    for path in files.config(TOPICS_FILE).parent.glob(f"*{BACKUP_SUFFIX}"):
        path.unlink()


def known(broker: Client, original: Original) -> dict[str, object]:
    """Return the topic, the group and its offset in the broker's tables."""
    history = original.history
    topics = decode_topic_table(require_success(broker.all_topic_config()).body).topics
    groups = body_of(broker.all_groups())
    table = groups.get("subscriptionGroupTable") if isinstance(groups, dict) else {}
    response = broker.query_offset(group=history.group, topic=history.many)
    return {
        "topic": history.many in topics,
        "group": isinstance(table, dict) and history.group in table,
        "offset": int(response.fields.get("offset", -1)),
    }


ALL_KNOWN = {"topic": True, "group": True, "offset": COMMITTED}


@pytest.mark.clause("STORE-CONFIG-014")
@pytest.mark.parametrize("number", range(ROUNDS))
def test_backups_are_read_in_place_of_garbage(original: Original, number: int) -> None:
    files = original.restored()
    backed_up(files, (name for name in FILES if files.config(name).exists()))
    corrupt_all(files, number)
    with original.started() as broker:
        found = known(broker, original)
    expect_fields("STORE-CONFIG-014", found=found, expected=ALL_KNOWN)


@pytest.mark.clause("STORE-CONFIG-015")
@pytest.mark.parametrize("number", range(ROUNDS))
def test_without_backups_a_broker_forgets(original: Original, number: int) -> None:
    files = original.restored()
    without_backups(files)
    corrupt_all(files, number)
    with original.started() as broker:
        found = known(broker, original)
        ends = ends_of(broker, original.history.many)
    # 4.x responds 0 for a group without an offset where the queue begins in memory.
    expected = {"topic": False, "group": False}
    expect_fields("STORE-CONFIG-015", found=found, expected=expected)
    not_committed = found["offset"] != COMMITTED
    expect("STORE-CONFIG-015", found=not_committed, expected=True, what="forgotten")
    expect("STORE-CONFIG-015", found=ends, expected=(0, MANY), what="min, max offset")


@pytest.mark.clause("STORE-CONFIG-016")
@pytest.mark.parametrize("name", FILES)
def test_two_unreadable_files_keep_a_broker_from_starting(
    original: Original, name: str
) -> None:
    files = original.restored()
    for corrupted in (name, name + BACKUP_SUFFIX):
        files.config(corrupted).write_bytes(TEXT)
    does = starts(original.target)
    original.target.kill()
    expect(
        "STORE-CONFIG-016", found=does, expected=False, what=f"starts without {name}"
    )


@pytest.mark.clause("STORE-CONFIG-018")
def test_offsets_of_pulls_are_in_the_file(original: Original) -> None:
    files, history = original.restored(), original.history
    original.target.start()
    with original.target.connect_to_broker() as broker:
        pull = broker.pull(topic=history.many, offset=PULLED, group=history.group)
        behind = int(require_success(pull).fields["nextBeginOffset"])
    original.target.stop()
    content = files.config(CONSUMER_OFFSETS_FILE).read_bytes()
    with charged("STORE-CONFIG-018", broker.transcript):
        table = decode_body(OffsetsFile, content).pull_offsets or {}
    found = table.get(f"{history.many}@{history.group}")
    expect("STORE-CONFIG-018", found=found, expected={0: behind}, what="pull offsets")


@pytest.mark.clause("STORE-CONFIG-019")
@pytest.mark.parametrize(
    ("table", "expected"), [(b"{}", True), (b'{"topic@group":{0:1}}', False)]
)
def test_a_table_of_pull_offsets_keeps_a_broker_from_starting(
    original: Original, table: bytes, expected: bool
) -> None:
    files = original.restored()
    for name in (CONSUMER_OFFSETS_FILE, CONSUMER_OFFSETS_FILE + BACKUP_SUFFIX):
        content = b'{"offsetTable":{},"pullOffsetTable":%b}' % table
        files.config(name).write_bytes(content)
    does = starts(original.target)
    original.target.kill()
    expect("STORE-CONFIG-019", found=does, expected=expected, what="starts")


@pytest.mark.clause("STORE-BATCHQUEUE-008")
@pytest.mark.parametrize("kind", [SIMPLE, BATCH])
def test_queues_of_another_type_keep_a_broker_from_starting(
    original: Original, kind: str
) -> None:
    files = original.restored()
    if kind == BATCH:
        topic_directory = files.path / BATCH_QUEUE / f"X{original.history.many}"
        (topic_directory / "0").mkdir(parents=True)
    else:
        table = as_object(fastjson.loads(files.config(TOPICS_FILE).read_bytes()))
        topics = object_in(table, "topicConfigTable")
        name = original.history.many
        topic = {**object_in(topics, name), "attributes": {QUEUE_TYPE: BATCH}}
        table = {**table, "topicConfigTable": {**topics, name: topic}}
        files.config(TOPICS_FILE).write_bytes(fastjson.dumps(table))
    does = starts(original.target)
    original.target.kill()
    expect("STORE-BATCHQUEUE-008", found=does, expected=False, what="starts")
