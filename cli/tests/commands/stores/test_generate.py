"""Stores of ``rmqc generate`` are complete or do not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

import spark_checks.generate.store
from cli.tests.commands.stores.salvage_command import run

WORDS = ("--size", "100K")


def fail_at_the_checkpoint(monkeypatch: pytest.MonkeyPatch, error: object) -> None:
    """Make the writer of stores raise *error* after the parts of the log."""

    def failing(_checkpoint: object) -> bytes:
        raise error  # type: ignore[misc]

    monkeypatch.setattr(spark_checks.generate.store, "encode_checkpoint", failing)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (OSError(28, "No space left on device"), 2, "cannot be written"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_a_failure_leaves_no_store(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    line: str,
) -> None:
    fail_at_the_checkpoint(monkeypatch, error)
    ended, output = run("generate", tmp_path / "new" / "store", *WORDS)
    assert ended == code
    assert line in output
    assert not (tmp_path / "new").exists()


def test_an_empty_directory_is_left_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at_the_checkpoint(monkeypatch, OSError(28, "No space left on device"))
    assert run("generate", tmp_path, *WORDS)[0] == 2
    assert [*tmp_path.iterdir()] == []


def test_a_wrong_fault_leaves_no_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    code, output = run("generate", store, *WORDS, "--faults", "nosuch")
    assert (code, "no fault nosuch" in output) == (2, True)
    assert not store.exists()


def test_unwritable_labels_leave_no_store(tmp_path: Path) -> None:
    store, labels = tmp_path / "store", tmp_path / "missing" / "labels"
    words = (*WORDS, "--faults", "record-size-plus-one", "--labels", labels)
    code, output = run("generate", store, *words)
    assert (code, f"{labels} cannot be written" in output) == (2, True)
    assert not store.exists()


def test_files_of_others_are_kept(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    assert run("generate", tmp_path, *WORDS)[0] == 2
    assert [*tmp_path.iterdir()] == [tmp_path / "mine"]
