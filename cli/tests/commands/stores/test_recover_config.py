"""Configuration that a start reads, as ``rmqc recover`` forecasts it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cli.tests.commands.stores.recover_command import (
    STORES,
    copied,
    foretold,
    recover,
    with_batch_queue,
)

CONFIGS = ("topics.json", "subscriptionGroup.json", "consumerOffset.json")


@pytest.mark.parametrize(
    ("release", "is_rebuilt"), [("4.9.7", True), ("5.3.3", False), ("5.5.0", False)]
)
def test_records_before_a_batch_of_a_batch_queue_are_not_dispatched(
    release: str, is_rebuilt: bool, tmp_path: Path
) -> None:
    store = with_batch_queue(tmp_path, release)
    shutil.rmtree(store / "consumequeue")
    found = foretold(store, release)
    assert (found["totals"]["invisible"] == 0) is is_rebuilt
    for queues in found["queues"].values():
        for one in queues.values():
            assert int(one["max"]) - int(one["min"]) == one["redispatched"]


@pytest.mark.parametrize(("release", "starts"), [("4.9.7", True), ("5.3.3", False)])
def test_a_batch_queue_needs_the_type_of_its_topic(
    release: str, starts: bool, tmp_path: Path
) -> None:
    store = with_batch_queue(tmp_path, release)
    topics = store / "config" / "topics.json"
    topics.write_text(topics.read_text().replace("BatchCQ", "SimpleCQ"))
    (store / "config" / "users").mkdir()  # access control, no settings
    found = foretold(store, release)
    assert found["starts"] is starts
    assert starts or found["refusal"]["file"] == "config/topics.json"


def test_the_first_topic_of_a_wrong_type_is_named(tmp_path: Path) -> None:
    store = with_batch_queue(tmp_path, "5.3.3")
    topics = [path.name for path in (store / "consumequeue").iterdir()]
    wrong = ((topic, {"attributes": {"queue.type": "BatchCQ"}}) for topic in topics)
    config = json.dumps({"topicConfigTable": dict(wrong)})
    (store / "config" / "topics.json").write_text(config)
    reason = foretold(store, "5.3.3")["refusal"]["says"]
    assert f" for {min(topics)}, whose queues are SimpleCQ" in reason


@pytest.mark.parametrize(
    ("text", "state"),
    [(" \n", "is blank: nothing is read"), ("{}", "has no topicConfigTable")],
)
def test_nothing_is_read_of_a_file_without_its_table(
    text: str, state: str, tmp_path: Path
) -> None:
    store = copied(tmp_path)
    (store / "config" / "topics.json").write_text(text)
    result = recover(store, "--release", "4.6.0")
    assert result.exit_code == 1
    assert f"The topics are lost: config/topics.json {state}." in result.output


@pytest.mark.parametrize(
    ("release", "copies"),
    [
        ("4.4.0", set()),
        ("4.6.0", {"subscriptionGroup.json"}),
        ("4.9.7", {"subscriptionGroup.json"}),
        ("5.3.3", {"consumerOffset.json"}),
        ("5.4.0", set(CONFIGS)),
        ("5.5.0", set(CONFIGS)),
    ],
)
def test_the_copies_of_some_blank_files_are_read(
    release: str, copies: set[str], tmp_path: Path
) -> None:
    store = with_copies(copied(tmp_path, f"{release}-stopped"), " \n")
    read = foretold(store, release)["config"]
    found = {one["file"] for one in read if one["read"] == "bak"}
    assert found == {f"config/{name}" for name in copies}


@pytest.mark.parametrize(
    ("release", "text", "copies"),
    [
        ("4.6.0", "[]", set()),
        ("4.6.0", "[ ]", {"subscriptionGroup.json"}),
        ("4.6.0", "[1]", set(CONFIGS)),
        ("5.3.3", "[]", set()),
        ("5.3.3", "[ ]", {"consumerOffset.json"}),
        ("5.3.3", "null", set()),
        ("5.4.0", "[]", set(CONFIGS)),
        ("5.4.0", "[ ]", set(CONFIGS)),
        ("4.4.0", '""', set()),
        ("4.6.0", '""', {"subscriptionGroup.json"}),
        ("5.3.3", '""', {"consumerOffset.json"}),
        ("5.4.0", '""', {"consumerOffset.json"}),
        ("5.5.0", "''", {"consumerOffset.json"}),
        ("5.4.0", '" "', set(CONFIGS)),
    ],
)
def test_an_empty_array_or_text_is_read_as_nothing_by_some_releases(
    release: str, text: str, copies: set[str], tmp_path: Path
) -> None:
    store = with_copies(copied(tmp_path, f"{release}-stopped"), text)
    read = foretold(store, release)["config"]
    found = {one["file"] for one in read if one["read"] == "bak"}
    assert found == {f"config/{name}" for name in copies}


@pytest.mark.parametrize(
    ("release", "name", "backup", "starts"),
    [
        ("4.6.0", "subscriptionGroup.json", " \n", False),
        ("4.6.0", "topics.json", " \n", True),
        ("5.3.3", "consumerOffset.json", " \n", False),
        ("5.4.0", "topics.json", " \n", False),
        ("5.4.0", "topics.json", "", True),
        ("5.4.0", "topics.json", '""', True),
        ("5.4.0", "consumerOffset.json", '""', False),
    ],
)
def test_a_copy_that_cannot_be_read_ends_the_start(
    release: str, name: str, backup: str, starts: bool, tmp_path: Path
) -> None:
    file = copied(tmp_path, f"{release}-stopped") / "config" / name
    file.write_text('{"a')
    file.with_name(f"{name}.bak").write_text(backup)
    assert foretold(file.parents[1], release)["starts"] is starts


@pytest.mark.parametrize("backup", ["{}", '""'])
def test_nothing_is_read_of_a_copy_without_its_table(
    backup: str, tmp_path: Path
) -> None:
    file = copied(tmp_path, "5.4.0-stopped") / "config" / "topics.json"
    file.write_text(" ")
    file.with_name("topics.json.bak").write_text(backup)
    output = recover(file.parents[1], "--release", "5.4.0").output
    state = "is empty; its .bak is read, which has no topicConfigTable"
    assert f"The topics are lost: config/topics.json {state}.\n" in output


def with_copies(store: Path, text: str) -> Path:
    """Return *store*, whose config files have become copies of files with *text*."""
    for name in CONFIGS:
        file = store / "config" / name
        shutil.copyfile(file, file.with_name(f"{name}.bak"))
        file.write_text(text)
    return store


@pytest.mark.parametrize(
    ("release", "starts"), [("5.3.3", True), ("5.4.0", False), ("5.5.0", True)]
)
def test_pull_offsets_of_a_newer_broker_stop_5_4(
    release: str, starts: bool, tmp_path: Path
) -> None:
    store = copied(tmp_path, "5.4.0-stopped")
    for name in ("consumerOffset.json", "consumerOffset.json.bak"):
        content = '{"offsetTable":{},"pullOffsetTable":{"topic@group":{0:1}}}'
        (store / "config" / name).write_text(content, encoding="utf-8")
    found = foretold(store, release)
    assert found["starts"] is starts
    clause = (found["refusal"] or {}).get("clause")
    assert clause == (None if starts else "STORE-CONFIG-019")


def test_a_store_without_its_topics_is_noticed(tmp_path: Path) -> None:
    store = copied(tmp_path)
    shutil.rmtree(store / "config")
    result = recover(store, "--release", "4.6.0")
    assert result.exit_code == 1
    lost = "The topics are lost: config/topics.json is missing, and there is no .bak."
    assert lost in result.output.splitlines()
    assert "Nothing is lost" not in result.output


@pytest.mark.parametrize(("state", "code"), [("stopped", 1), ("killed", 0)])
def test_a_stop_has_written_the_consumed_offsets(
    tmp_path: Path, state: str, code: int
) -> None:
    """A broker that is killed early has not written them."""
    store = copied(tmp_path)
    if state == "killed":
        (store / "abort").touch()
    for file in (store / "config").glob("consumerOffset.json*"):
        file.unlink()
    result = recover(store, "--release", "4.6.0")
    assert result.exit_code == code, result.output
    assert ("offsets of all groups are lost" in result.output) is bool(code)
    assert "rmqc salvage" not in result.output, "a new store lacks them, too"


def test_both_copies_of_a_setting_are_broken(tmp_path: Path) -> None:
    store = copied(tmp_path)
    for name in ("topics.json", "topics.json.bak"):
        (store / "config" / name).write_text("{ not json")
    found = foretold(store)
    assert found["refusal"]["clause"] == "STORE-CONFIG-016"
    (store / "config" / "topics.json.bak").unlink()
    config = foretold(store)["config"]
    assert [one["read"] for one in config if "topics" in one["file"]] == ["nothing"]


def test_names_of_the_file_that_are_no_settings_are_shown(tmp_path: Path) -> None:
    settings = tmp_path / "broker.conf"
    sizes = "mapedFileSizeCommitLog=65536\nmapedFileSizeConsumeQueue=400\n"
    other = "tls.enable=true\nsendMessageThreadPoolNums=4\n"
    text = f"{sizes}flushDiskTyp=SYNC_FLUSH\n{other}"
    settings.write_text(text, encoding="utf-8")
    store = STORES / "4.6.0-stopped"
    result = recover(store, "--release", "4.6", "--broker-conf", settings)
    assert result.exit_code == 0, result.output
    later = recover(store, "--release", "5.3.3", "--broker-conf", settings)
    assert later.stderr == "", "the settings of this release are in no table"
    reason = "is not a setting of a 4.6.0 broker (did you mean flushDiskType?)"
    assert result.stderr == f"{settings}: flushDiskTyp {reason}\n"


@pytest.mark.parametrize(
    ("root", "log", "is_shown"),
    [
        ("store", "disk2", True),
        ("store", "store/commitlog", False),
        ("original", "disk2", False),
    ],
    ids=["another log", "its log", "a copy's original"],
)
def test_a_log_that_is_not_the_one_of_the_broker_is_shown(
    tmp_path: Path, root: str, log: str, is_shown: bool
) -> None:
    store, settings = copied(tmp_path), tmp_path / "broker.conf"
    (tmp_path / "disk2").mkdir()
    text = f"storePathRootDir={tmp_path / root}\nstorePathCommitLog={tmp_path / log}\n"
    text += "mapedFileSizeCommitLog=65536\nmapedFileSizeConsumeQueue=400\n"
    settings.write_text(text, encoding="utf-8")
    result = recover(store, "--release", "4.6", "--broker-conf", settings)
    assert result.exit_code == 0, result.output
    reason = f"the broker's storePathCommitLog is {tmp_path / log}"
    line = f"{reason}, but {store / 'commitlog'} is examined\n"
    assert result.stderr == line * is_shown


@pytest.mark.parametrize("text", ["{", None])
@pytest.mark.parametrize(("backup", "starts"), [("{", False), ("{}", True)])
def test_a_broker_with_lmqs_reads_its_offsets_from_their_file(
    text: str | None, backup: str, starts: bool, tmp_path: Path
) -> None:
    """A real 5.3.3 with enableLmq does not start if both files are unreadable."""
    store = copied(tmp_path, "5.3.3-stopped")
    file = store / "config" / "lmqConsumerOffset.json"
    if text is not None:
        file.write_text(text)
    file.with_name(f"{file.name}.bak").write_text(backup)
    assert foretold(store, "4.6.0")["starts"]
    found = foretold(store, "5.3.3")
    assert found["starts"] is starts
    (state,) = [one for one in found["config"] if "Offset" in one["file"]][:1]
    assert state["file"] == f"config/{file.name}"
    assert state["lost"] is (text is not None)
