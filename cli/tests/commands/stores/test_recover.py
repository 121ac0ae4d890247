"""``rmqc recover`` forecasts a start, and does not change the store."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from errno import EACCES
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.runs.stores.start_forecasts import start_forecast
from cli.tests.commands.stores.recover_command import (
    LAST_FILE,
    RELEASES,
    STORES,
    copied,
    foretold,
    recover,
    with_batch_queue,
)
from spec.store.config.config_files import BACKUP_SUFFIX
from spec.store.epoch_file import EPOCH_FILE, Epoch, encode_epochs

RIGHT_EPOCHS = encode_epochs([Epoch(1, 0)])
WRONG_EPOCHS = RIGHT_EPOCHS.replace(b"1-0", b"1-1")


@pytest.mark.parametrize("end", ["stopped", "killed"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_loses_nothing_of_its_own_store(release: str, end: str) -> None:
    result = recover(STORES / f"{release}-{end}", "--release", release, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "It starts" in result.output
    assert "Nothing is lost" in result.output


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


def test_a_start_without_both_kinds_of_queues_rebuilds_them(tmp_path: Path) -> None:
    store = with_batch_queue(tmp_path, "5.3.3")
    found = start_forecast(str(store), "5.3.3")
    assert found is not None
    assert found.rebuilt is not None
    assert found.rebuilt.is_harmless


@pytest.mark.parametrize("end", ["stopped", "killed"])
@pytest.mark.parametrize(
    ("release", "expected"),
    [("4.9.7", "4.6.0"), ("5.3.3", "5.3.3"), ("5.4.0", "5.5.0"), ("5.5.0", "5.5.0")],
)
def test_without_a_release_one_of_the_same_kind_is_taken(
    release: str, end: str, expected: str, tmp_path: Path
) -> None:
    store = STORES / f"{release}-{end}"
    words = ("salvage", str(store), "-o", str(tmp_path / "new"))
    assert CliRunner().invoke(main, words).exit_code == 0
    for one in (store, tmp_path / "new"):
        found = start_forecast(str(one), None)
        assert found is not None
        assert found.release == expected


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
    ("release", "content", "copy", "refused_by"),
    [
        ("5.3.3", b"", None, EPOCH_FILE),
        ("5.3.3", b"", RIGHT_EPOCHS, EPOCH_FILE),
        ("5.3.3", WRONG_EPOCHS, None, None),
        ("5.3.3", WRONG_EPOCHS, b"1\n", EPOCH_FILE + BACKUP_SUFFIX),
        ("5.3.3", RIGHT_EPOCHS, b"1\n", None),
        ("4.9.7", b"", None, None),
    ],
)
def test_epochs_that_are_no_numbers_prevent_a_start(
    release: str,
    content: bytes,
    copy: bytes | None,
    refused_by: str | None,
    tmp_path: Path,
) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    (store / EPOCH_FILE).write_bytes(content)
    if copy is not None:
        (store / f"{EPOCH_FILE}{BACKUP_SUFFIX}").write_bytes(copy)
    found = foretold(store, release)
    assert found["starts"] is (refused_by is None)
    if refused_by is not None:
        assert found["refusal"]["clause"] == "STORE-EPOCHFILE-003"
        assert found["refusal"]["file"] == refused_by


def test_a_refused_start_names_the_next_step(tmp_path: Path) -> None:
    store = copied(tmp_path)
    os.truncate(min((store / "commitlog").iterdir()), 5_000)
    result = recover(store, "--release", "4.6")
    assert result.exit_code == 1
    assert "It does not start" in result.output.splitlines()[1]
    assert result.output.endswith(f"rmqc salvage {store} -o NEW\n")


@pytest.mark.parametrize("name", [f"{LAST_FILE}.bak", "commitlog/20261130"])
def test_a_file_beside_the_log_is_moved_and_nothing_is_salvaged(
    name: str, tmp_path: Path
) -> None:
    store = copied(tmp_path)
    (store / name).write_bytes(b"stray")
    lines = recover(store, "--release", "5.3.3").output.splitlines()
    assert lines[-1] == f"Move {store}/{name} out of the store, and forecast again."


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
        cwd=Path(__file__).parents[4],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as broker:
        assert broker.stdout is not None
        assert broker.stdin is not None
        assert broker.stdout.readline() == b"1\n"
        refusal = foretold(store)["refusal"]
        broker.stdin.close()
    assert refusal["clause"] == "STORE-NAME-006"


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
    (store / directory / "CURRENT").write_text("MANIFEST-000004\n")
    (store / directory / "MANIFEST-000004").touch()
    result = recover(store, "--release", "5.5")
    assert result.exit_code == 2
    assert f"in RocksDB ({directory}), which is not read" in result.output
    (store / directory / "MANIFEST-000004").unlink()
    result = recover(store, "--release", "5.5", "--dry-run")
    reason = f"{directory}/CURRENT has the name MANIFEST-000004, which is missing"
    assert reason in result.output
    advice = f"Move {store}/{directory} out of the store: a start builds the queues"
    assert advice in result.output.replace("\n", " ")


def test_a_damaged_database_of_topics_is_brought_back(tmp_path: Path) -> None:
    store = copied(tmp_path)
    (store / "config" / "topics").mkdir()
    (store / "config" / "topics" / "MANIFEST-000004").touch()
    result = recover(store, "--release", "5.3.3", "--dry-run")
    assert "config/topics/CURRENT has no file (STORE-ROCKSDB-001)" in result.output
    assert f"Bring {store}/config/topics back" in result.output
    result = recover(store, "--release", "4.6.0", "--dry-run")
    assert "It does not start" not in result.output


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


def test_a_checkpoint_without_permission_does_not_end_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = copied(tmp_path)
    opened = os.open

    def denied(path: Path, flags: int) -> int:
        if path == store / "checkpoint":
            raise PermissionError(EACCES, "Permission denied", str(path))
        return opened(path, flags)

    monkeypatch.setattr(os, "open", denied)
    result = recover(store, "--release", "4.6.0", "--dry-run")
    line = "Error: checkpoint cannot be read: Permission denied\n"
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
