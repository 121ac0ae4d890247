"""``rmqc salvage``: the config files and the kinds of queues of the new store."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cli.tests.commands.stores.salvage_command import content, run
from spec.wire.bodies import fastjson
from spec.wire.bodies.fastjson_forms import dumps_pretty
from spec.wire.bodies.json_object import as_object

KEPT = (
    *("topicQueueMapping.json", "lmqConsumerOffset.json"),
    *("messageRequestMode.json", "transactionMetrics"),
)


@pytest.mark.parametrize("name", ["consumerOffsets", "rdb"])
def test_a_configuration_in_rocksdb_is_reported_as_left_behind(
    store: Path, tmp_path: Path, name: str
) -> None:
    database = store / "config" / name
    database.mkdir()
    (database / "CURRENT").touch()
    code, output = run("salvage", store, "-o", tmp_path / "new", "--format", "json")
    assert code == 1
    [warning] = json.loads(output)["warnings"]
    assert warning.startswith(f"config/{name}: RocksDB, not copied;")
    assert ("configManagerVersion=v2" in warning) == (name == "rdb")


@pytest.mark.parametrize("is_empty", [False, True])
def test_a_store_without_config_has_lost_offsets(
    store: Path, tmp_path: Path, *, is_empty: bool
) -> None:
    shutil.rmtree(store / "config")
    if is_empty:
        (store / "config").mkdir()
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new, "--format", "json")
    assert code == 1
    lost = "groups no committed offsets, delay levels no offsets"
    made = "config: no files; topics have the queues of their messages"
    assert json.loads(output)["warnings"] == [f"{made}, {lost}"]
    topics = as_object(fastjson.loads((new / "config/topics.json").read_bytes()))
    assert "Orders0000" in as_object(topics["topicConfigTable"])
    # A broker with its topics in RocksDB reads the file only if it has changes.
    assert as_object(topics["dataVersion"])["counter"] == 1


def test_a_deleted_topic_that_is_back_is_named(store: Path, tmp_path: Path) -> None:
    path, new = store / "config" / "topics.json", tmp_path / "new"
    topics = json.loads(path.read_text())
    for topic in ("Orders0000", "SCHEDULE_TOPIC_XXXX"):
        topics["topicConfigTable"].pop(topic, None)
    path.write_text(json.dumps(topics))
    code, output = run("salvage", store, "-o", new)
    assert code == 0
    assert "  1 topic that topics.json did not have:\n    Orders0000\n" in output
    again = fastjson.loads((new / "config/topics.json").read_bytes())
    assert "Orders0000" in as_object(as_object(again)["topicConfigTable"])
    path.write_text('{"topicConfigTable":{}}')
    path.with_name("topics.json.bak").unlink(missing_ok=True)
    _, output = run("salvage", store, "-o", tmp_path / "other", "--format", "json")
    assert json.loads(output)["added_topics"] == []


@pytest.mark.parametrize("name", ["kvStore", "rocksdbstore"])
def test_a_database_with_records_is_reported_as_left_behind(
    store: Path, tmp_path: Path, name: str
) -> None:
    (store / name).mkdir()
    log = store / name / "000004.log"
    log.touch()
    assert run("salvage", store, "-o", tmp_path / "empty")[0] == 0
    log.write_bytes(b"record")
    code, output = run("salvage", store, "-o", tmp_path / "new", "--format", "json")
    assert code == 1
    [warning] = json.loads(output)["warnings"]
    assert warning.startswith(f"{name}: RocksDB, not copied; ")


@pytest.mark.parametrize(
    ("name", "text", "warned"),
    [
        ("consumerOrderInfo.json", '{"table":{"T@g":{0:{"o":[7]}}}}', True),
        ("consumerOrderInfo.json", '{"table":{}}', False),
        ("tieredStoreMetadata.json", '{"topicMetadataTable":{"T":{}}}', True),
        ("tieredStoreMetadata.json", '{"topicSerialNumber":-1}', False),
    ],
)
def test_state_that_cannot_be_kept_is_reported(
    store: Path, tmp_path: Path, name: str, text: str, *, warned: bool
) -> None:
    (store / "config" / name).write_text(text)
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new, "--format", "json")
    warnings = json.loads(output)["warnings"]
    assert (code, len(warnings)) == ((1, 1) if warned else (0, 0))
    assert all(one.startswith(f"config/{name}: not copied; ") for one in warnings)
    assert not (new / "config" / name).exists()


def test_compacted_topics_are_reported(store: Path, tmp_path: Path) -> None:
    (store / "compaction" / "compactionLog" / "Orders" / "0").mkdir(parents=True)
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "  compaction: not copied; " in output) == (1, True), output


def test_users_in_rocksdb_are_reported_as_such(store: Path, tmp_path: Path) -> None:
    (store / "config" / "users").mkdir()
    (store / "config" / "users" / "CURRENT").touch()
    code, output = run("salvage", store, "-o", tmp_path / "new", "--format", "json")
    [warning] = json.loads(output)["warnings"]
    assert code == 1
    assert warning == "config/users: RocksDB, not copied; users have to be made again"


def test_files_that_only_some_brokers_have_stay_and_name_the_release(
    store: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    config = store / "config"
    shutil.copy(config / "consumerOffset.json", config / KEPT[1])
    (config / KEPT[0]).write_text('{"topicQueueMappingInfoMap":{"Static":{}}}')
    (config / KEPT[2]).write_text('{"messageRequestModeMap":{"T":{"g":{}}}}')
    (config / KEPT[3]).write_text('{"transactionCount":{"T":{"count":2}}}')
    (store / "epochFileCheckpoint").touch()
    code, output = run("salvage", store, "-o", new)
    assert (code, "start of a 5.3.3 broker" in output) == (0, True), output
    old, kept = (
        [fastjson.loads((one / "config" / name).read_bytes()) for name in KEPT]
        for one in (store, new)
    )
    assert kept == old


def test_no_committed_offset_is_behind_the_end_of_its_queue(
    store: Path, tmp_path: Path
) -> None:
    _, *lost = sorted((store / "commitlog").iterdir())
    for path in lost:
        path.unlink()
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "delay levels behind the end" in output) == (1, True), output
    code, output = run("recover", tmp_path / "new", "--release", "4.6")
    assert (code, "Nothing is lost" in output) == (0, True), output


def test_offsets_of_last_pulls_move_with_the_committed_ones(
    store: Path, tmp_path: Path
) -> None:
    path = store / "config" / "consumerOffset.json"
    before = dict(as_object(fastjson.loads(path.read_bytes())))
    before["pullOffsetTable"] = before["offsetTable"]
    path.write_bytes(dumps_pretty(before))
    with min((store / "commitlog").iterdir()).open("r+b") as log:
        log.seek(4096)
        log.write(bytes(4096))
    assert run("salvage", store, "-o", tmp_path / "new")[0] == 1
    new = (tmp_path / "new" / "config" / path.name).read_bytes()
    found = as_object(fastjson.loads(new))
    assert found["pullOffsetTable"] == found["offsetTable"] != before["offsetTable"]


def test_a_broker_builds_lmqs_and_batch_queues(tmp_path: Path) -> None:
    store, new = tmp_path / "store", tmp_path / "new"
    assert run("generate", store, "--size", "1M", "--rich")[0] == 0
    code, output = run("salvage", store, "-o", new)
    assert (code, "none lost" in output) == (0, True), output
    assert "The first start builds all queues" in output
    assert not (new / "consumequeue").exists()
    for release in ("4.9", "5.0", "5.1", "5.3", "5.5"):
        code, output = run("recover", new, "--release", release)
        assert (release, code) == (release, 0), output


@pytest.mark.parametrize(
    ("name", "text", "state"),
    [
        ("consumerOffset", '{"offsetTable":{"T@g":{"x":1}}}', "broken (ValueError: "),
        ("consumerOffset", '{"offsetTable":{"T@g":5}}', "broken (T@g at byte 0: "),
        ("consumerOffset", '{"offsetTable":{"T@g":{0:"x"}}}', "broken (T@g at byte"),
        ("delayOffset", '{"offsetTable":{"x":1}}', "broken (ValueError: "),
        ("delayOffset", "{}", "broken (offsetTable at byte 0: "),
        ("subscriptionGroup", "{}", "broken (subscriptionGroupTable at byte 0: "),
        ("topics", '{"topicConfigTable":null}', "broken (topicConfigTable at byte"),
        ("topics", " \n", "empty; "),
    ],
)
def test_the_copy_of_a_wrong_file_is_read(
    sound: Path, store: Path, tmp_path: Path, name: str, text: str, state: str
) -> None:
    path = store / "config" / f"{name}.json"
    shutil.copy(path, f"{path}.bak")
    path.write_text(text)
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 1, output
    assert f"config/{name}.json is {state}" in output
    assert "; its .bak is read\n" in output
    assert run("salvage", sound, "-o", tmp_path / "whole")[0] == 0
    assert content(tmp_path / "new" / "config") == content(tmp_path / "whole/config")
