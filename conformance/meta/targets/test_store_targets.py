"""The store suite on directories: those of real brokers pass, damaged ones do not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.pytest_plugin.options import suite_folders
from conformance.harness.report.causes import causes_of
from conformance.harness.report.outcome import Outcome
from conformance.harness.targets import store_target
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.store_files import BODY_CRC_AT, StoreFiles, content
from conformance.harness.targets.target import TargetError, parse_target
from spec.store.file_names import file_name

RECORDED = SOURCES / "fixtures" / "store"
QUICK = ("4.6.0-stopped", "5.5.0-killed")
"""Stores of the default run."""
LARGE = 1 << 30
"""Size of a log file of Apache's broker, by default."""


def outcomes(store: Path, release: str) -> dict[str, Outcome]:
    """Run the store suite on *store* and return the outcome of every clause."""
    run = run_child(
        suite_folders(["store"]), f"--target=store:{store}", f"--profile={release}"
    )
    assert run.outcomes, run.output
    return run.outcomes


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in sorted(path.name for path in RECORDED.iterdir())
    ],
)
def test_a_real_brokers_store_passes(name: str) -> None:
    release = name.partition("-")[0]
    found = Counter(outcomes(RECORDED / name, release).values())
    assert set(found) == {
        Outcome.PASS,
        Outcome.UNSUPPORTED,
        Outcome.NOT_APPLICABLE,
    }
    assert found[Outcome.PASS] >= 40


def wrong_checksum(store: Path) -> None:
    flip(store, StoreFiles(store).records()[3].offset + BODY_CRC_AT)


def wrong_magic(store: Path) -> None:
    flip(store, StoreFiles(store).records()[-1].offset + 4)


def wrong_size_in_a_unit(store: Path) -> None:
    queue = next((store / "consumequeue" / "TopicTest").rglob("0" * 20), None)
    queue = queue or next((store / "consumequeue").rglob("0" * 20))
    data = bytearray(queue.read_bytes())
    data[11] ^= 1
    queue.write_bytes(data)


def flip(store: Path, offset: int) -> None:
    """Turn one bit of the commit log's byte at *offset*."""
    for file in StoreFiles(store).log_files():
        at = offset - file.begin_offset
        if 0 <= at < len(file.data):
            data = bytearray(file.data)
            data[at] ^= 1
            (store / "commitlog" / file.name).write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "clause"),
    [
        (wrong_checksum, "STORE-CRC-001"),
        (wrong_magic, "STORE-LOG-001"),
        (wrong_size_in_a_unit, "STORE-QUEUE-003"),
    ],
)
def test_a_damaged_store_fails(
    damage: Callable[[Path], None], clause: str, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(RECORDED / "4.6.0-stopped", store)
    damage(store)
    assert outcomes(store, "4.6.0")[clause] is Outcome.FAIL


def test_the_cause_of_most_comes_first_and_no_test_errs(tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(RECORDED / "4.6.0-stopped", store)
    flip(store, StoreFiles(store).records()[1].offset + 4)
    run = run_child(suite_folders(), f"--target=store:{store}", "--profile=4.6")
    assert set(run.outcomes.values()).isdisjoint({Outcome.ERROR})
    first, *_ = causes_of(run.report.results)
    assert first.clause_id == "STORE-LOG-001"
    assert first.blocked >= 8


def test_a_file_with_a_foreign_name_fails_only_the_clause_about_names(
    tmp_path: Path,
) -> None:
    store = tmp_path / "store"
    shutil.copytree(RECORDED / "4.6.0-stopped", store)
    (store / "commitlog" / "backup.tar").write_bytes(b"not a log")
    (store / "consumequeue" / "Old" / "backup").mkdir(parents=True)
    queue = store / "consumequeue" / "HandoverBills" / "0"
    (queue / ".DS_Store").write_bytes(b"no units")
    (queue / "backup.tar").write_bytes(b"no units")
    found = outcomes(store, "4.6.0")
    failed = [clause for clause in found if found[clause] is Outcome.FAIL]
    assert failed == ["STORE-NAME-001"]
    assert Outcome.ERROR not in found.values()


def not_a_directory(path: Path) -> Path:
    path.write_text("hello", "utf-8")
    return path


def without_log(path: Path) -> Path:
    path.mkdir()
    return path


def with_an_empty_log(path: Path) -> Path:
    (path / "commitlog" / file_name(0)).mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (Path, "does not exist"),
        (not_a_directory, "is not a directory"),
        (without_log, "is not a store: it has no directory commitlog"),
        (with_an_empty_log, "is not a store: commitlog has no file of a log"),
    ],
)
def test_a_path_without_a_store_is_one_line(
    made: Callable[[Path], Path], reason: str, tmp_path: Path
) -> None:
    path = made(tmp_path / "store")
    with pytest.raises(TargetError) as error:
        parse_target(f"store:{path}").start()
    assert str(error.value) == f"{path} {reason}"


@pytest.mark.parametrize("denied", [".", "commitlog", f"commitlog/{file_name(0)}"])
def test_a_store_that_cannot_be_read_is_one_line(
    denied: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / file_name(0)).touch()

    def access(path: Path, mode: int) -> bool:
        return mode == os.F_OK or path != tmp_path / denied

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(TargetError) as error:
        parse_target(f"store:{tmp_path}").start()
    assert str(error.value) == f"{tmp_path / denied} cannot be read: Permission denied"


def test_holes_of_a_file_are_not_read(tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(RECORDED / "4.6.0-stopped", store)
    log = min((store / "commitlog").iterdir())
    expected = len(StoreFiles(store).log_files()[0].scan.records)
    with log.open("r+b") as file:
        file.truncate(LARGE)
    reading = (
        "import resource, sys; from pathlib import Path;"
        "from conformance.harness.targets.store_files import StoreFiles;"
        "files = StoreFiles(Path(sys.argv[1])).log_files();"
        "print(len(files[0].data), len(files[0].scan.records),"
        " resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    command = [sys.executable, "-c", reading, str(store)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    size, records, memory = map(int, run.stdout.split())
    assert (size, records) == (LARGE, expected)
    assert memory < LARGE // 2


def resident_kib() -> int:
    """Return the memory of this process, shared memory included."""
    text = Path("/proc/self/statm").read_text("ascii")
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def test_the_holes_of_a_file_take_no_memory_when_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, 1 << 26)
    found = content(path)
    before = resident_kib()
    piece = 1 << 20
    assert all(
        found[at : at + piece] == bytes(piece) for at in range(0, 1 << 26, piece)
    )
    assert resident_kib() - before < 1 << 14


def test_a_store_that_tests_cannot_hold_names_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / file_name(0)).write_bytes(b"\1" * 5_000_000)
    with parse_target(f"store:{tmp_path}"):
        pass
    monkeypatch.setattr(store_target, "WRITTEN_MAX", 4_000_000)
    with pytest.raises(TargetError, match=r"has 5 MB.* up to 4 MB.*rmqc audit"):
        parse_target(f"store:{tmp_path}").start()
