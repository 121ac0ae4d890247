"""``rmqc recover`` forecasts a start, and does not change the store."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from errno import EACCES, ENOSPC
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.runs.stores.start_forecasts import start_forecast
from cli.tests.commands.recover_command import (
    LAST_FILE,
    RELEASES,
    STORES,
    copied,
    foretold,
    recover,
)
from reference.shell.storage.store_copy import CopyError
from spec.store.batch_queue import BatchUnit, encode_batch_unit
from spec.store.file_names import file_name

CONFIGS = ("topics.json", "subscriptionGroup.json", "consumerOffset.json")


def state(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return the state that the command may not change: names, times, bytes."""
    return {
        str(path.relative_to(directory)): (
            path.stat().st_mtime_ns,
            path.stat().st_ino,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in directory.rglob("*")
    }


@pytest.mark.parametrize("end", ["stopped", "killed"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_loses_nothing_of_its_own_store(release: str, end: str) -> None:
    result = recover(STORES / f"{release}-{end}", "--release", release, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "It starts" in result.output
    assert "Nothing is lost" in result.output


def test_a_dry_run_leaves_every_byte_and_time(tmp_path: Path) -> None:
    store = copied(tmp_path, "4.6.0-killed")
    shutil.rmtree(store / "consumequeue" / "HandoverBills")
    before = state(tmp_path)
    for release in RELEASES:
        recover(store, "--release", release, "--dry-run")
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    ("release", "clause"),
    [("4.6.0", "REC-LOAD-001"), ("4.9.7", "REC-LOAD-001"), ("5.3.3", None)],
)
def test_an_empty_last_file(release: str, clause: str | None, tmp_path: Path) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    name = "commitlog/00000000000000131072"
    (store / name).write_bytes(b"")
    found = foretold(store, release)
    assert found["starts"] is (clause is None)
    if clause is None:
        assert found["log"]["deleted_files"] == [name]
    else:
        assert found["refusal"]["clause"] == clause
        assert found["refusal"]["file"] == name


def with_batch_queue(tmp_path: Path, release: str) -> Path:
    """Return a recorded store with a batch queue that points into its last file."""
    store = copied(tmp_path, f"{release}-stopped")
    queue = store / "batchconsumequeue" / "Batches" / "0"
    queue.mkdir(parents=True)
    unit = BatchUnit(
        commit_log_offset=65536,
        size=200,
        stored_at_ms=1,
        first_queue_offset=0,
        message_count=1,
    )
    (queue / file_name(0)).write_bytes(encode_batch_unit(unit).ljust(46 * 10, b"\0"))
    topics = store / "config" / "topics.json"
    own = '"topicConfigTable":{"Batches":{"attributes":{"queue.type":"BatchCQ"}},'
    text = re.sub('"topicConfigTable":{', own, topics.read_text())
    topics.write_text(text)
    return store


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
    ],
)
def test_an_empty_array_is_read_as_nothing_by_some_releases(
    release: str, text: str, copies: set[str], tmp_path: Path
) -> None:
    store = with_copies(copied(tmp_path, f"{release}-stopped"), text)
    read = foretold(store, release)["config"]
    found = {one["file"] for one in read if one["read"] == "bak"}
    assert found == {f"config/{name}" for name in copies}


def with_copies(store: Path, text: str) -> Path:
    """Return *store*, whose config files have become copies of files with *text*."""
    for name in CONFIGS:
        file = store / "config" / name
        shutil.copyfile(file, file.with_name(f"{name}.bak"))
        file.write_text(text)
    return store


def test_a_start_without_both_kinds_of_queues_rebuilds_them(tmp_path: Path) -> None:
    store = with_batch_queue(tmp_path, "5.3.3")
    found = start_forecast(str(store), "5.3.3")
    assert found is not None
    assert found.rebuilt is not None
    assert found.rebuilt.is_harmless


@pytest.mark.parametrize("release", ["4.6.0", "5.3.3"])
def test_a_negative_count_of_an_index_file_is_no_obstacle(
    release: str, tmp_path: Path
) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    (*_, file) = sorted((store / "index").iterdir())
    with file.open("r+b") as index:
        index.seek(36)
        index.write(b"\xff" * 4)
    assert foretold(store, release)["starts"] is True


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


@pytest.mark.parametrize(("release", "starts"), [("4.9.7", True), ("5.3.3", False)])
def test_a_short_timer_wheel_matters_since_5(
    release: str, starts: bool, tmp_path: Path
) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    (store / "timerwheel").write_bytes(b"too short")
    found = foretold(store, release)
    assert found["starts"] is starts
    if not starts:
        assert found["refusal"]["clause"] == "REC-LOAD-008"


def test_a_store_without_its_topics_is_noticed(tmp_path: Path) -> None:
    store = copied(tmp_path)
    shutil.rmtree(store / "config")
    result = recover(store, "--release", "4.6.0")
    assert "config/topics.json is missing, and there is no .bak.\n" in result.output


def test_both_copies_of_a_setting_are_broken(tmp_path: Path) -> None:
    store = copied(tmp_path)
    for name in ("topics.json", "topics.json.bak"):
        (store / "config" / name).write_text("{ not json")
    found = foretold(store)
    assert found["refusal"]["clause"] == "STORE-CONFIG-016"
    (store / "config" / "topics.json.bak").unlink()
    config = foretold(store)["config"]
    assert [one["read"] for one in config if "topics" in one["file"]] == ["nothing"]


def test_a_refused_start_names_the_next_step(tmp_path: Path) -> None:
    store = copied(tmp_path)
    os.truncate(min((store / "commitlog").iterdir()), 5_000)
    result = recover(store, "--release", "4.6")
    assert result.exit_code == 1
    assert "It does not start" in result.output.splitlines()[1]
    assert result.output.endswith(f"rmqc salvage {store} -o NEW\n")


def test_a_file_beside_the_log_is_moved_and_nothing_is_salvaged(tmp_path: Path) -> None:
    store = copied(tmp_path)
    shutil.copy(store / LAST_FILE, store / f"{LAST_FILE}.bak")
    lines = recover(store, "--release", "5.3.3").output.splitlines()
    assert (
        lines[-1]
        == f"Move {store}/{LAST_FILE}.bak out of the store, and forecast again."
    )


def test_the_release_must_be_named() -> None:
    result = recover(STORES / "4.6.0-stopped")
    assert result.exit_code == 2
    assert "Missing option '--release'" in result.output
    assert "Choose from 4.4.0, " in result.output


def test_a_running_broker_is_noticed(tmp_path: Path) -> None:
    store = copied(tmp_path)
    holding = "import sys; from reference.shell.storage.disk import DiskFiles;"
    holding += "DiskFiles(sys.argv[1]).lock(); print(1, flush=True); sys.stdin.read()"
    # A lock is its process's: this process would not see its own.
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(store)],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as broker:
        assert broker.stdout is not None
        assert broker.stdin is not None
        assert broker.stdout.readline() == b"1\n"
        refusal = foretold(store)["refusal"]
        broker.stdin.close()
    assert refusal["clause"] == "STORE-NAME-006"


def test_without_a_dry_run_a_copy_is_recovered(tmp_path: Path) -> None:
    store = copied(tmp_path, "4.6.0-killed")
    before = state(store)
    target = tmp_path / "copy"
    result = recover(store, "--release", "4.6.0", "--copy", target)
    assert result.exit_code == 0, result.output
    assert f"The copy at {target} was recovered" in result.output
    assert state(store) == before
    assert not (target / "abort").exists()
    assert foretold(target)["log"]["end"] == foretold(store)["log"]["end"]


def test_the_copy_for_another_release_is_only_cut(tmp_path: Path) -> None:
    store = copied(tmp_path, "5.3.3-killed")
    before = state(store)
    target = tmp_path / "copy"
    result = recover(store, "--release", "5.3.3", "--copy", target, "--format", "json")
    assert "was cut at" in json.loads(result.stdout)["copy"]["says"]
    assert state(store) == before
    assert not (target / "commitlog" / "00000000000000131072").exists()


def test_nothing_is_written_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, temporary = copied(tmp_path), tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = state(tmp_path)
    assert recover(store, "--release", "4.6.0").exit_code == 0
    assert state(tmp_path) == before
    both = recover(
        store, "--release", "4.6.0", "--dry-run", "--copy", tmp_path / "copy"
    )
    assert both.exit_code == 2
    assert state(tmp_path) == before


def test_a_copy_is_made_nowhere_in_the_store(tmp_path: Path) -> None:
    store = copied(tmp_path)
    result = recover(store, "--release", "4.6.0", "--copy", store / "copy")
    assert result.exit_code == 2
    assert "lies in the store itself" in result.output
    assert not (store / "copy").exists()


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("_copy_file", OSError(ENOSPC, "No space left on device")),
        ("check_space", CopyError("the disk is full")),
        ("shutil.copystat", KeyboardInterrupt()),
    ],
)
def test_a_copy_that_fails_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    error: BaseException,
    *,
    exists: bool,
) -> None:
    def failed(*_: object) -> None:
        raise error

    store, target = copied(tmp_path), tmp_path / "new" / "copy"
    if exists:
        target.mkdir(parents=True)
    monkeypatch.setattr(f"reference.shell.storage.store_copy.{step}", failed)
    result = recover(store, "--release", "4.6.0", "--copy", target)
    is_interrupted = isinstance(error, KeyboardInterrupt)
    assert result.exit_code == (130 if is_interrupted else 2)
    assert result.output.startswith("Error: ")
    assert result.output.count("\n") == 1
    assert target.exists() is target.parent.exists() is exists
    assert not exists or not any(target.iterdir())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--release", "3.2.6"), "3.2.6 is not one of 4.4, 4.5"),
        (("--release", "4.6.0", "--out", "/nowhere/at/all"), "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_line(words: tuple[str, ...], reason: str) -> None:
    result = recover(STORES / "4.6.0-stopped", *words, "--dry-run")
    assert result.exit_code == 2
    assert reason in result.output
    assert result.output.count("\n") == 1


@pytest.mark.parametrize("directory", ["consumequeue", "consumequeue_rocksdb"])
def test_queues_in_rocksdb_are_one_line(directory: str, tmp_path: Path) -> None:
    store = copied(tmp_path)
    (store / directory).mkdir(exist_ok=True)
    (store / directory / "CURRENT").touch()
    result = recover(store, "--release", "5.5")
    assert result.exit_code == 2
    assert f"in RocksDB ({directory}), which is not read" in result.output


def test_a_store_without_a_log_to_read_is_one_line(tmp_path: Path) -> None:
    store, new = copied(tmp_path), tmp_path / "new"
    (store / "commitlog").rename(tmp_path / "log")
    require_one_line(store, new, "it has no directory commitlog (with storePath")
    (store / "dledger-n0" / "data").mkdir(parents=True)
    require_one_line(store, new, "in DLedger, which is not read")
    shutil.rmtree(store / "dledger-n0")
    (store / "commitlog").symlink_to(tmp_path / "log")
    assert recover(store, "--release", "4.6").exit_code == 0


def require_one_line(store: Path, new: Path, reason: str) -> None:
    """Require that each command about *store* ends with one line that has *reason*."""
    for words in (("recover", "--release", "4.6"), ("salvage", "-o", new), ("dump",)):
        result = CliRunner().invoke(main, [*map(str, words), str(store)])
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
        assert reason in result.stderr


def test_the_largest_size_of_all_keeps_4_x_from_starting(tmp_path: Path) -> None:
    store = copied(tmp_path)
    with (store / LAST_FILE).open("r+b") as file:
        file.write(b"\x7f\xff\xff\xff")
    found = foretold(store)
    assert found["refusal"]["clause"] == "REC-SCAN-013"
    assert found["messages"]["lost"] == []
    assert foretold(store, "5.3.3")["starts"] is True


def test_a_missing_file_in_the_middle_holds_a_start_that_dispatches(
    tmp_path: Path,
) -> None:
    store = copied(tmp_path)
    shutil.rmtree(store / "consumequeue")
    log = store / "commitlog"
    (log / "00000000000000065536").rename(log / "00000000000000131072")
    assert foretold(store)["refusal"]["clause"] == "REC-DISPATCH-008"
    assert foretold(store, "5.3.3")["starts"] is True


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    store = copied(tmp_path)
    (store / "checkpoint").unlink()
    os.mkfifo(store / "checkpoint")
    (store / "config" / "consumerFilter.json").unlink(missing_ok=True)
    os.mkfifo(store / "config" / "consumerFilter.json")
    os.mkfifo(store / "commitlog" / "00000000000000131072")
    found = foretold(store)
    assert found["refusal"]["file"] == "commitlog/00000000000000131072"


class DeniedEntry:
    """Entry of a directory that may be listed and not entered."""

    name = LAST_FILE

    def stat(self) -> None:
        """Raise PermissionError, as the system does."""
        raise PermissionError(EACCES, "Permission denied")


def test_a_log_without_permission_is_not_called_a_wrong_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "commitlog").mkdir()
    monkeypatch.setattr(os, "scandir", lambda _: nullcontext([DeniedEntry()]))
    result = recover(tmp_path, "--release", "4.6.0", "--dry-run")
    line = "Error: commitlog cannot be read: Permission denied\n"
    assert (result.exit_code, result.output) == (2, line)


def test_a_store_that_may_not_be_entered_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: Path) -> list[str]:
        raise PermissionError(EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", denied)
    result = recover(tmp_path, "--release", "4.6.0", "--dry-run")
    line = f"Error: {tmp_path} cannot be read: Permission denied\n"
    assert (result.exit_code, result.output) == (2, line)


def test_a_name_that_a_terminal_would_obey_is_made_harmless(tmp_path: Path) -> None:
    store = copied(tmp_path)
    topic = os.fsencode(store) + b"/consumequeue/\x1b[31m\xff/0"
    os.makedirs(topic)
    Path(os.fsdecode(topic), "x").write_bytes(b"stray")
    result = recover(store, "--release", "4.6.0", "--dry-run")
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "It does not start" in result.output
    assert "[31m" in foretold(store)["refusal"]["file"]


def test_a_link_is_followed_and_never_written_through(tmp_path: Path) -> None:
    store = copied(tmp_path, "4.6.0-killed")
    elsewhere = tmp_path / "elsewhere"
    shutil.move(store / "commitlog", elsewhere)
    (store / "commitlog").symlink_to(elsewhere)
    (store / "loop").symlink_to(store)
    before = state(elsewhere)
    result = recover(store, "--release", "4.6.0", "--copy", tmp_path / "copy")
    assert result.exit_code == 0, result.output
    assert state(elsewhere) == before


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
