"""``rmqc salvage``: its exit codes, its report, and the original that it only reads."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from errno import EACCES
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.runs.stores import salvage_store
from reference.shell.storage.disk import DiskFiles
from rocketmq_conformance.paths import module_command
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import file_name
from spec.store.message_record import MAGIC_V1, MAGIC_V2, Record, encode_record
from spec.wire.bodies import fastjson
from spec.wire.message.topic_names import OP_TOPIC

PAGE = 4096
KEPT = ("topicQueueMapping.json", "lmqConsumerOffset.json")


def run(*words: str | Path) -> tuple[int, str]:
    """Return exit code and output of ``rmqc`` with *words*."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sound store, generated."""
    store = tmp_path_factory.mktemp("sound") / "store"
    code, output = run("generate", store, "--size", "1M", "--topics", "2")
    assert code == 0, output
    return store


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    """Return a copy of the sound store."""
    return Path(shutil.copytree(sound, tmp_path / "store"))


def content(directory: Path) -> dict[str, str]:
    """Return a hash of each file below *directory*."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def log_of(store: Path) -> dict[str, str]:
    """Return a hash of each commit-log file."""
    return content(store / "commitlog")


def test_lines_fit_into_the_terminal(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = min((store / "commitlog").iterdir())
    with first.open("r+b") as stream:
        stream.seek(3 * PAGE)
        stream.write(bytes(PAGE))
    monkeypatch.setenv("COLUMNS", "80")
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new)
    assert code == 1
    lines = [line for line in output.splitlines() if str(new) not in line]
    assert max(map(len, lines)) <= 80


def test_a_sound_store_keeps_its_log(store: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new)
    assert code == 0
    assert "none lost" in output
    assert f"rmqc audit {new}" in output
    assert log_of(new) == log_of(store)


def test_a_preallocated_file_is_not_damage(store: Path, tmp_path: Path) -> None:
    last = max((store / "commitlog").iterdir())
    size = last.stat().st_size
    (last.parent / f"{int(last.name) + size:020d}").write_bytes(bytes(size))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True)


def test_damage_is_reported_and_the_original_is_only_read(
    store: Path, tmp_path: Path
) -> None:
    first, second, *_ = sorted((store / "commitlog").iterdir())
    data = bytearray(first.read_bytes())
    data[5 * PAGE : 6 * PAGE] = bytes(PAGE)
    first.write_bytes(data)
    second.unlink()
    before = content(store)
    code, output = run("salvage", store, "-o", tmp_path / "new", "--format", "json")
    assert content(store) == before
    assert code == 1
    found = json.loads(output)
    assert found["schema"] == 1
    assert found["missing_files"] == [second.name]
    begin, end = map(int, found["damaged_ranges"][0])
    assert begin <= 5 * PAGE < 6 * PAGE <= end
    ranges = (one for queue in found["lost_offsets"] for one in queue["ranges"])
    lost = sum(int(end) - int(begin) for begin, end in ranges)
    assert found["lost"] == lost > 0


def test_a_configuration_in_rocksdb_is_reported_as_left_behind(
    store: Path, tmp_path: Path
) -> None:
    database = store / "config" / "consumerOffsets"
    database.mkdir()
    (database / "CURRENT").touch()
    code, output = run("salvage", store, "-o", tmp_path / "new", "--format", "json")
    assert code == 1
    [warning] = json.loads(output)["warnings"]
    assert warning.startswith("config/consumerOffsets: RocksDB, not copied;")


def test_files_that_only_some_brokers_have_stay_and_name_the_release(
    store: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    config = store / "config"
    shutil.copy(config / "consumerOffset.json", config / KEPT[1])
    (config / KEPT[0]).write_text('{"topicQueueMappingInfoMap":{"Static":{}}}')
    (store / "epochFileCheckpoint").touch()
    code, output = run("salvage", store, "-o", new)
    assert (code, "start of a 5.3.3 broker" in output) == (0, True), output
    old, kept = (
        [fastjson.loads((one / "config" / name).read_bytes()) for name in KEPT]
        for one in (store, new)
    )
    assert kept == old


@pytest.mark.parametrize("end", [100, 5 * PAGE])
def test_queues_whose_first_messages_are_lost_begin_at_0(
    store: Path, tmp_path: Path, end: int
) -> None:
    path = min((store / "commitlog").iterdir())
    path.write_bytes(bytes(end) + path.read_bytes()[end:])
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new, "--format", "json")
    assert code == 1, output
    found = json.loads(output)
    begins = [int(one["ranges"][0][0]) for one in found["lost_offsets"]]
    assert begins == [0] * len(begins)
    assert found["lost"] == sum(one["by"] for one in found["moved_queues"]) > 0
    code, output = run("salvage", new, "-o", tmp_path / "again", "--format", "json")
    assert code == 0, output
    assert json.loads(output)["messages"] == found["messages"]


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


def test_a_store_in_use_is_not_salvaged(store: Path, tmp_path: Path) -> None:
    files = DiskFiles(store)
    files.lock()
    with subprocess.Popen(
        module_command("cli", "salvage", str(store), "-o", str(tmp_path / "new")),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        error = process.stderr.read()
    files.unlock()
    assert process.returncode == 2
    assert "a broker is running on" in error
    assert not (tmp_path / "new").exists()


def test_a_file_that_cannot_be_read_is_one_line(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, new = max((store / "commitlog").iterdir()), tmp_path / "new"
    opened = Path.open

    def denied(one: Path, mode: str = "r") -> object:
        if one == path:
            raise PermissionError(EACCES, "Permission denied", str(one))
        return opened(one, mode)

    monkeypatch.setattr(Path, "open", denied)
    code, output = run("salvage", store, "-o", new)
    line = f"Error: {path} cannot be read: Permission denied; {new} was not written\n"
    assert (code, output) == (2, line)
    assert not new.exists()


def test_a_queue_that_cannot_be_read_is_one_line(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = tmp_path / "new"
    path = next(one for one in (store / "consumequeue").glob("*/*") if one.is_dir())
    listed = Path.iterdir

    def denied(one: Path) -> Any:
        if one == path:
            raise PermissionError(EACCES, "Permission denied", str(one))
        return listed(one)

    monkeypatch.setattr(Path, "iterdir", denied)
    code, output = run("salvage", store, "-o", new)
    line = f"Error: {path} cannot be read: Permission denied; {new} was not written\n"
    assert (code, output) == (2, line)
    assert not new.exists()


@pytest.mark.parametrize(
    "step",
    [
        "cli.runs.stores.salvage_store._make_queues",
        "reference.core.salvage.readable_records.record_of",
    ],
)
@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (KeyboardInterrupt(), 130, "interrupted; "),
        (OSError(28, "No space left on device"), 2, "No space left on device; "),
    ],
)
@pytest.mark.parametrize("exists", [False, True])
def test_a_salvage_that_ends_early_leaves_no_store(
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    error: BaseException,
    code: int,
    reason: str,
    *,
    exists: bool,
) -> None:
    def failed(*_: object) -> None:
        raise error

    new = tmp_path / "new"
    if exists:
        new.mkdir()
    monkeypatch.setattr(step, failed)
    found, output = run("salvage", store, "-o", new)
    assert found == code
    assert f"{reason}{new} was not written" in output
    assert new.exists() is exists
    assert not exists or not any(new.iterdir())


def test_a_killed_salvage_leaves_nothing_that_looks_like_a_store(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, killed = tmp_path / "new", tmp_path / "killed"

    def remembered(*_: object) -> None:
        shutil.copytree(new, killed)

    monkeypatch.setattr("cli.runs.stores.salvage_store._make_queues", remembered)
    assert run("salvage", store, "-o", new)[0] == 0
    code, output = run("recover", killed, "--release", "4.6")
    assert (code, "is not a store" in output) == (2, True), output
    code, output = run("salvage", store, "-o", killed)
    assert (code, "that was killed; delete it" in output) == (2, True), output


def test_a_log_without_all_messages_is_not_named_as_one(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, killed = tmp_path / "new", tmp_path / "killed"
    count_lost = salvage_store._count_lost

    def remembered(*values: Any) -> None:
        shutil.copytree(new, killed)
        count_lost(*values)

    monkeypatch.setattr(salvage_store, "_count_lost", remembered)
    assert run("salvage", store, "-o", new)[0] == 0
    code, output = run("recover", killed / "salvage.partial", "--release", "4.6")
    assert (code, "is not a store" in output) == (2, True), output


def test_free_space_is_checked_before_anything_is_written(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new)
    assert (code, output.count("\n")) == (2, 1)
    assert f"{new} has 1,000 bytes free, the store takes" in output
    assert not new.exists()


def test_an_output_that_cannot_be_created_is_one_line(store: Path) -> None:
    code, output = run("salvage", store, "-o", "/proc/x")
    assert (code, output.count("\n")) == (2, 1)
    assert "/proc/x cannot be written: " in output
    assert "incomplete" not in output


def test_the_second_salvage_finds_nothing_more(store: Path, tmp_path: Path) -> None:
    path = sorted((store / "commitlog").iterdir())[1]
    data = bytearray(path.read_bytes())
    data[100:200] = bytes(100)
    path.write_bytes(data)
    assert run("salvage", store, "-o", tmp_path / "once")[0] == 1
    code, output = run("salvage", tmp_path / "once", "-o", tmp_path / "twice")
    assert (code, "none lost" in output) == (0, True)
    assert log_of(tmp_path / "once") == log_of(tmp_path / "twice")


@pytest.mark.parametrize(
    ("target", "reason"),
    [("store/new", "lies in the store itself"), ("full", "is not an empty directory")],
)
def test_a_wrong_output_is_one_line(
    store: Path, tmp_path: Path, target: str, reason: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    before = content(store)
    code, output = run("salvage", store, "-o", tmp_path / target)
    assert (code, output.count("\n")) == (2, 1)
    assert reason in output
    assert content(store) == before


def test_a_directory_without_a_log_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, output = run("salvage", tmp_path / "empty", "-o", tmp_path / "new")
    assert (code, output.count("\n")) == (2, 1)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("which", [min, max])
def test_a_directory_in_place_of_a_file_is_reported(
    store: Path, tmp_path: Path, which: Callable[[Iterable[Path]], Path]
) -> None:
    path = which((store / "commitlog").iterdir())
    path.unlink()
    path.mkdir()
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 1
    assert f"  commitlog/{path.name} is a directory" in output
    assert "none lost" not in output


@pytest.mark.parametrize("is_preallocated", [False, True])
def test_a_file_that_is_too_long_is_reported(
    store: Path, tmp_path: Path, is_preallocated: bool
) -> None:
    files = sorted((store / "commitlog").iterdir())
    size = files[0].stat().st_size
    path = files[0]
    if is_preallocated:
        path = path.with_name(f"{int(files[-1].name) + size:020}")
        path.write_bytes(bytes(size))
    path.write_bytes(path.read_bytes() + bytes(size))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 1
    line = f"commitlog/{path.name} is too long: its bytes behind {size:,} are not read"
    assert line in " ".join(output.split())


def test_a_directory_in_place_of_a_queue_file_is_passed_over(
    store: Path, tmp_path: Path
) -> None:
    path = min((store / "consumequeue").glob("*/0/0*"))
    path.unlink()
    path.mkdir()
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True), output


def test_a_garbage_unit_is_not_a_lost_message(store: Path, tmp_path: Path) -> None:
    path = max((store / "consumequeue").glob("*/0/0*"))
    data = path.read_bytes()
    end = -(-len(data.rstrip(b"\0")) // UNIT_SIZE) * UNIT_SIZE
    far = (1 << 61).to_bytes(8, "big") + bytes(3) + b"\xc8" + bytes(8)
    without_size = data[end - UNIT_SIZE :][:8] + bytes(4) + b"12345678"
    garbage = far + b"\xff" * UNIT_SIZE + without_size
    path.write_bytes(far + data[UNIT_SIZE:end] + garbage + data[end + len(garbage) :])
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True), output


def test_a_copy_of_a_queue_has_no_lost_messages(store: Path, tmp_path: Path) -> None:
    topic = min((store / "consumequeue").glob("Orders*"))
    shutil.copytree(topic, topic.with_name(f"{topic.name}.old"))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True), output


def test_bridging_records_are_named_and_not_dumped(store: Path, tmp_path: Path) -> None:
    path = min((store / "commitlog").iterdir())
    data = bytearray(path.read_bytes())
    data[5 * PAGE : 6 * PAGE] = bytes(PAGE)
    path.write_bytes(data)
    new = tmp_path / "new"
    code, output = run("salvage", store, "-o", new, "--format", "json")
    assert code == 1
    found = json.loads(output)
    assert found["bridging_records"] > 0
    code, dumped = run("dump", new)
    assert code == 0
    assert "SALVAGE_BRIDGE" not in dumped
    assert len(dumped.splitlines()) == found["messages"]
    code, output = run("salvage", new, "-o", tmp_path / "again")
    assert code == 0
    assert f"{found['bridging_records']} record" in output
    assert "of the topic SALVAGE_BRIDGE" in output


def test_each_moved_queue_is_listed_with_its_gap(store: Path, tmp_path: Path) -> None:
    path = min((store / "commitlog").iterdir())
    path.write_bytes(bytes(5 * PAGE) + path.read_bytes()[5 * PAGE :])
    form = ("--format", "json")
    moved = json.loads(run("salvage", store, "-o", tmp_path / "json", *form)[1])
    _, output = run("salvage", store, "-o", tmp_path / "new")
    assert moved["moved_queues"]
    for one in moved["moved_queues"]:
        line = f"    {one['topic']}, queue {one['queue']}, by {one['by']:,}\n"
        assert line in output


def test_a_message_with_the_queue_offset_of_another_is_kept(tmp_path: Path) -> None:
    store, new = tmp_path / "store", tmp_path / "new"
    words = ("--size", "1M", "--faults", "record-queue-id,record-queue-offset")
    assert run("generate", store, *words)[0] == 0
    code, output = run("salvage", store, "-o", new, "--format", "json")
    assert code == 1, output
    found = json.loads(output)
    assert "message before: 2" in found["warnings"][0]
    assert found["messages"] == len(run("dump", store)[1].splitlines())
    code, output = run("recover", new, "--release", "4.6")
    assert code == 0, output


def test_a_broker_builds_lmqs_and_batch_queues(tmp_path: Path) -> None:
    store, new = tmp_path / "store", tmp_path / "new"
    assert run("generate", store, "--size", "1M", "--rich")[0] == 0
    code, output = run("salvage", store, "-o", new)
    assert (code, "none lost" in output) == (0, True), output
    assert "The first start builds all queues" in output
    assert not (new / "consumequeue").exists()
    code, output = run("recover", new, "--release", "5.3")
    assert code == 0, output


def test_tasks_of_spark_write_the_same_store(tmp_path: Path) -> None:
    store, here, there = tmp_path / "store", tmp_path / "here", tmp_path / "there"
    words = ("--size", "3M", "--topics", "2", "--body-size", "1K")
    assert run("generate", store, *words)[0] == 0
    files = sorted((store / "commitlog").iterdir())
    assert len(files) > 6
    for number in (0, 2, 3):  # half messages are lost, and their op messages are not
        data = bytearray(files[number].read_bytes())
        data[5 * PAGE : 7 * PAGE] = bytes(2 * PAGE)
        files[number].write_bytes(data)
    files[5].unlink()
    code, report = run("salvage", store, "-o", here, "--format", "json")
    assert code == 1, report
    words = ("salvage", str(store), "-o", str(there), "--format", "json")
    by_tasks = subprocess.run(
        module_command("cli", *words, "--master", "local[2]"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert by_tasks.returncode == 1, by_tasks.stderr
    expected = {**json.loads(report), "store": str(there)}
    assert json.loads(by_tasks.stdout) == expected
    assert any(one["topic"] == OP_TOPIC for one in expected["moved_queues"])
    assert log_of(there) == log_of(here)
    assert content(there / "consumequeue") == content(here / "consumequeue")


def test_a_task_that_cannot_write_is_one_line(store: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    small = ("sh", "-c", 'ulimit -f 100; exec "$@"', "sh")  # 50 KB for each file
    command = module_command("cli", "salvage", str(store), "-o", str(new))
    done = subprocess.run(
        [*small, *command, "--master", "local[1]"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(f"; {new} was not written\n")
    assert not any(new.iterdir())


def test_a_store_for_an_older_release_has_no_records_that_it_cannot_read(
    tmp_path: Path,
) -> None:
    store, size = tmp_path / "store", 64 * 1024
    one = Record(topic="Old", queue_id=0, queue_offset=0, physical_offset=0, body=b"a")
    data = encode_record(one)
    for topic, number in (("New" * 60, 0), ("Old", 1)):
        magic = MAGIC_V2 if len(topic) > 127 else MAGIC_V1
        one = replace(
            one,
            topic=topic,
            magic=magic,
            queue_offset=number,
            physical_offset=len(data),
        )
        data += encode_record(one)
    (store / "commitlog").mkdir(parents=True)
    (store / "commitlog" / file_name(0)).write_bytes(data.ljust(size, b"\0"))
    counts = {}
    for release in ("4.6.0", "5.3.3"):
        words = ("--release", release, "--format", "json")
        code, output = run("salvage", store, "-o", tmp_path / release, *words)
        found = json.loads(output)
        assert (found["start"]["release"], found["start"]["lost"]) == (release, 0)
        counts[release] = code, found["messages"], found["bridging_records"]
    assert counts == {"4.6.0": (1, 2, 1), "5.3.3": (0, 3, 0)}


def test_a_message_of_a_topic_that_is_no_directory_is_in_no_queue(
    store: Path, tmp_path: Path
) -> None:
    path = min((store / "commitlog").iterdir())
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Orders0001", b"Or/ers0001", 1))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 1, output
    assert "topic or queue id is not valid: 1\n" in output


@pytest.mark.parametrize(
    "words",
    [
        ("salvage", "URL", "-o", "new"),
        ("salvage", ".", "-o", "URL"),
        ("dump", "URL"),
        ("recover", "URL", "--release", "4.6"),
        ("audit", ".", "--out", "URL"),
    ],
)
def test_a_url_is_no_local_path_and_its_key_is_not_shown(words: list[str]) -> None:
    url = "s3://KEY:SECRET@bucket/path"
    code, output = run(*[url if one == "URL" else one for one in words])
    assert (code, "SECRET" in output) == (2, False), output
    assert "a local path is required" in output
