"""``rmqc salvage``: its exit codes, and the directory that it writes."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from errno import EACCES
from pathlib import Path
from typing import Any

import pytest

from cli.runs.stores import salvage_store
from cli.tests.commands.stores.recover_command import copied
from cli.tests.commands.stores.salvage_command import PAGE, content, log_of, run
from reference.shell.storage.disk import DiskFiles
from rocketmq_conformance.paths import module_command
from spec.store.consume_queue import decode_units, encode_unit
from spec.store.file_names import file_name
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS, decode_delay_levels
from spec.wire.message.topic_names import OP_TOPIC, SCHEDULE_TOPIC


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


def test_messages_wait_for_the_delays_of_their_broker(tmp_path: Path) -> None:
    """The default of messageDelayLevel would deliver them years too early."""
    store, new = copied(tmp_path), tmp_path / "new"
    delays = {"0": "5s", "1": "3650d"}
    for queue, delay in delays.items():
        (file,) = (store / "consumequeue" / SCHEDULE_TOPIC / queue).iterdir()
        data = file.read_bytes()
        units = decode_units(data)
        change = decode_delay_levels(delay).delays_ms[0]
        change -= decode_delay_levels(DEFAULT_DELAY_LEVELS).delays_ms[int(queue)]
        later = [replace(one, tags_code=one.tags_code + change) for one in units]
        file.write_bytes(b"".join(map(encode_unit, later)).ljust(len(data), b"\0"))
    assert run("salvage", store, "-o", new)[0] == 0
    schedule = Path("consumequeue", SCHEDULE_TOPIC)
    assert content(new / schedule) == content(store / schedule)


def test_the_size_of_queue_files_is_reported_if_no_file_shows_it(
    store: Path, tmp_path: Path
) -> None:
    line = "  queue files: of 6,000,000 bytes, as mappedFileSizeConsumeQueue must be"
    assert line not in run("salvage", store, "-o", tmp_path / "whole")[1].splitlines()
    shutil.rmtree(store / "consumequeue")
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 0
    assert line in output.splitlines()
    files = (tmp_path / "new/consumequeue").rglob("0*0")
    assert {file.stat().st_size for file in files if file.is_file()} == {6_000_000}


def test_a_preallocated_file_is_not_damage(store: Path, tmp_path: Path) -> None:
    last = max((store / "commitlog").iterdir())
    size = last.stat().st_size
    (last.parent / f"{int(last.name) + size:020d}").write_bytes(bytes(size))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, "none lost" in output) == (0, True)


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
        "cli.runs.stores.salvage_store.start_forecast",
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


def test_a_file_far_behind_the_log_is_of_another_store(
    store: Path, tmp_path: Path
) -> None:
    first, *_ = sorted((store / "commitlog").iterdir())
    size = first.stat().st_size
    far = shutil.copy(first, first.with_name(file_name(5000 * size)))
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert (code, output.count("\n")) == (2, 1), output
    assert f"{far} lies too far behind" in output


@pytest.mark.parametrize("name", ["1", "20261130"])
def test_a_number_that_names_no_file_of_the_log_is_to_be_moved(
    name: str, store: Path, tmp_path: Path
) -> None:
    (store / "commitlog" / name).write_bytes(b"stray")
    code, output = run("salvage", store, "-o", tmp_path / "new")
    assert code == 2
    assert output.endswith(
        f"commitlog/{name} is not a commit-log file: move it away\n"
    ), output


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


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("store/new", "lies in the store itself"),
        ("full", "is not an empty directory"),
        ("link", "cannot be written"),
    ],
)
def test_a_wrong_output_is_one_line(
    store: Path, tmp_path: Path, target: str, reason: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    before = content(store)
    code, output = run("salvage", store, "-o", tmp_path / target)
    assert (code, output.count("\n")) == (2, 1)
    assert reason in output
    assert content(store) == before
    assert (tmp_path / "link").is_symlink()


def test_a_directory_without_a_log_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, output = run("salvage", tmp_path / "empty", "-o", tmp_path / "new")
    assert (code, output.count("\n")) == (2, 1)
    assert not (tmp_path / "new").exists()


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


@pytest.mark.parametrize(
    "words",
    [
        ("salvage", "URL", "-o", "new"),
        ("salvage", ".", "-o", "URL"),
        ("dump", "URL"),
        ("recover", "URL", "--release", "4.6"),
        ("audit", ".", "--out", "URL"),
        ("inspect", "URL"),
        ("serve", "--store", "URL"),
        ("site", "-o", "URL"),
        ("report", "pages", "-o", "URL"),
        ("report", "matrix", "URL", "-o", "x.html"),
        ("test", "--report", "URL"),
    ],
)
def test_a_url_is_no_local_path_and_its_key_is_not_shown(words: list[str]) -> None:
    url = "s3://KEY:SECRET@bucket/path"
    code, output = run(*[url if one == "URL" else one for one in words])
    assert (code, "SECRET" in output) == (2, False), output
    assert "a local path is required" in output


def test_an_empty_path_is_not_the_current_directory(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    code, output = run("salvage", store, "-o", "")
    assert (code, list(Path.cwd().iterdir())) == (2, [])
    assert "the path is empty" in output
