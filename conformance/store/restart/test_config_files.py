"""The files in config: topics, groups and offsets, written when they change."""

from __future__ import annotations

import re

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.store.workload import Outgoing, send_all
from conformance.store.written_store import SMALL_FILES, Written, wait_until_dispatched
from spec.layout import LayoutError
from spec.routing.topic_config import TopicConfig, TopicTable, decode_topic_table
from spec.store.commit_log import Stop
from spec.store.config.config_files import (
    BACKUP_SUFFIX,
    CONSUMER_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
    decode_consumer_offsets,
    decode_groups,
)
from spec.store.file_names import ABORT

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config")]


def topics_of(files: StoreFiles, suffix: str = "") -> TopicTable:
    """Return the content of topics.json, or of its backup."""
    path = files.config(TOPICS_FILE + suffix)
    return decode_topic_table(path.read_bytes()) if path.exists() else TopicTable()


def wait_for_topic(files: StoreFiles, topic: str) -> TopicConfig:
    """Return *topic* as topics.json has it, once it has it."""
    wait_until(
        lambda: topic in topics_of(files).topics,
        what=f"{topic} is in {TOPICS_FILE}",
    )
    return topics_of(files).topics[topic]


@pytest.mark.restores
@pytest.mark.clause("STORE-CONFIG-001", "STORE-CONFIG-002", "STORE-CONFIG-008")
def test_a_created_topic_is_written_and_the_file_before_kept(written: Written) -> None:
    names = [unique_name("config") for _ in range(2)]
    counters = []
    for name in names:
        create_topic(written.target, name, queue_count=3)
        topic = wait_for_topic(written.files, name)
        counters.append(topics_of(written.files).version.counter)
        expect(
            "STORE-CONFIG-001",
            found=(topic.read_queue_count, topic.write_queue_count, topic.permission),
            expected=(3, 3, 6),
            what="read queues, write queues and permission",
        )
    expect(
        "STORE-CONFIG-002",
        found=counters[1] > counters[0],
        expected=True,
        what=f"the counter grew: {counters}",
    )
    before = topics_of(written.files, BACKUP_SUFFIX).topics
    expect(
        "STORE-CONFIG-008",
        found=[name in before for name in names],
        expected=[True, False],
        what="the topic before the last, and the last, are in the backup",
    )


@pytest.mark.clause("STORE-CONFIG-001")
def test_a_topic_that_goes_leaves_nothing_in_the_file(
    start_target: TargetStarter,
) -> None:
    # A target of its own: deleting a topic deletes the queues of all topics that the
    # broker does not list, including those of transaction decisions.
    target = start_target(SMALL_FILES)
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    name = create_topic(target, unique_name("config" + "s" * 40))
    wait_for_topic(files, name)
    path = files.config(TOPICS_FILE)
    before = path.read_bytes()
    with target.connect_to_broker() as broker:
        require_success(broker.delete_topic(topic=name))
    wait_until(
        lambda: path.exists() and path.read_bytes() != before,
        what=f"{TOPICS_FILE} is written again",
    )
    data = path.read_bytes()
    try:
        left = sorted({name} & decode_topic_table(data).topics.keys())
    except LayoutError as error:
        left = [str(error)]
    expect("STORE-CONFIG-001", found=left, expected=[], what="what is left of a topic")


@pytest.mark.restores
@pytest.mark.clause("STORE-CONFIG-003")
def test_the_brokers_own_topics_are_written_too(written: Written) -> None:
    topics = topics_of(written.files).topics
    template = topics.get("TBW102")
    expect(
        "STORE-CONFIG-003",
        found=(template and template.permission, "SELF_TEST_TOPIC" in topics),
        expected=(7, True),
        what="permission of TBW102, SELF_TEST_TOPIC is there",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-CONFIG-004")
def test_a_created_group_is_written(written: Written) -> None:
    group = unique_name("group")
    path = written.files.config(GROUPS_FILE)
    with written.target.connect_to_broker() as broker:
        require_success(broker.update_group(group=group, settings={"retryMaxTimes": 5}))
    wait_until(
        lambda: path.exists() and group in decode_groups(path.read_bytes()),
        what=f"{group} is in {GROUPS_FILE}",
    )
    expect(
        "STORE-CONFIG-004",
        found=decode_groups(path.read_bytes())[group].retry_max_times,
        expected=5,
        what="retryMaxTimes",
    )


@pytest.mark.clause("STORE-CONFIG-005", "STORE-CONFIG-006", "STORE-CONFIG-009")
@pytest.mark.needs("restart")
def test_an_orderly_stop_writes_everything(start_target: TargetStarter) -> None:
    target = start_target(SMALL_FILES)
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    topic, group = create_topic(target, unique_name("stop")), unique_name("group")
    last = [Outgoing(topic=topic, queue_id=1, properties={"KEYS": "k"})] * 3
    sent = send_all(target, last)
    wait_until_dispatched(files, sent[-1])
    with target.connect_to_broker() as broker:
        commit(broker, topic, group)
    target.stop()
    offsets = files.config(CONSUMER_OFFSETS_FILE).read_bytes()
    expect(
        "STORE-CONFIG-005",
        found=decode_consumer_offsets(offsets).offsets.get((topic, group)),
        expected={0: 0, 1: 3},
        what="committed offsets by queue",
    )
    bare = keys_without_quotes(b"%s@%s" % (topic.encode(), group.encode()))
    expect(
        "STORE-CONFIG-006",
        found=bool(bare.search(offsets)),
        expected=True,
        what="the queue id 0 is a key without quotes",
    )
    expect(
        "STORE-CONFIG-009",
        found=(
            (files.path / ABORT).exists(),
            [file.name for file in files.log_files() if file.scan.stop is Stop.BROKEN],
        ),
        expected=(False, []),
        what="the file abort is there, broken files of the commit log",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-CONFIG-006")
def test_queue_ids_of_committed_offsets_are_keys_without_quotes(
    written: Written,
) -> None:
    topic, group = create_topic(written.target, unique_name("commit")), unique_name("g")
    with written.target.connect_to_broker() as broker:
        commit(broker, topic, group)
    path = written.files.config(CONSUMER_OFFSETS_FILE)

    def content() -> bytes:
        return path.read_bytes() if path.exists() else b""

    entry = b"%s@%s" % (topic.encode(), group.encode())
    wait_until(
        lambda: entry in content(),
        what=f"{CONSUMER_OFFSETS_FILE} has the committed offsets",
        timeout_s=30,
    )
    expect_that(
        "STORE-CONFIG-006",
        bool(keys_without_quotes(entry).search(content())),
        found=content()[content().find(entry) :][: len(entry) + 20],
        expected="the queue id 0 as a key without quotes",
    )


def keys_without_quotes(entry: bytes) -> re.Pattern[bytes]:
    """Return the pattern of the offsets of *entry*, by queue ids without quotes."""
    return re.compile(rb'"%s"\s*:\s*\{\s*0\s*:' % re.escape(entry))


def commit(broker: Client, topic: str, group: str) -> None:
    """Commit offsets of two queues, for a group that exists: 5.x requires that."""
    require_success(broker.update_group(group=group))
    for queue_id, offset in ((0, 0), (1, 3)):
        require_success(
            broker.update_offset(
                group=group, topic=topic, queue_id=queue_id, offset=offset
            )
        )
