"""
``rmqc generate`` writes a store and its labels, or reports an error.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import spark_checks.generate.store
from cli.commands.stores.generate import generate
from cli.main import main


def test_a_store_and_its_labels_are_written(tmp_path: Path) -> None:
    store = tmp_path / "store"
    kinds = "record-zeros,checkpoint-log,unit-zeros"
    run = CliRunner().invoke(generate, [str(store), "--faults", kinds])
    assert (run.exit_code, run.output.split(",")[0]) == (0, "planted faults: 3")
    labels = json.loads(Path(f"{store}.labels.json").read_text(encoding="utf-8"))
    assert [fault["kind"] for fault in labels["faults"]] == kinds.split(",")
    assert (store / labels["faults"][0]["file"]).exists()


def test_a_rich_store_has_faults_of_its_own(tmp_path: Path) -> None:
    store = tmp_path / "store"
    options = ["--rich", "--faults", "lmq-unit-zeros,batch-unit-count"]
    run = CliRunner().invoke(generate, [str(store), *options])
    assert (run.exit_code, run.output.split(",")[0]) == (0, "planted faults: 2")
    for name in ("consumequeue_ext", "batchconsumequeue"):
        assert list((store / name).rglob(f"{0:020}"))
    without = [str(tmp_path / "without"), *options[1:]]
    run = CliRunner().invoke(generate, without)
    assert (run.exit_code, "of a basic store" in run.output) == (2, True)


def test_kinds_are_listed() -> None:
    run = CliRunner().invoke(generate, ["--list-faults"])
    assert run.exit_code == 0
    assert "record-zeros" in run.output


def test_what_cannot_be_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    for options, output in (
        (["--faults", "no-such"], "no fault no-such"),
        (["--faults", "checkpoint-log,checkpoint-missing"], "do not go with"),
        (["--size", "many"], "is not a size"),
        (["--body-size", "1G"], "does not fit"),
    ):
        store = tmp_path / str(len(options[1]))
        run = CliRunner().invoke(generate, [str(store), *options])
        assert (run.exit_code, store.exists()) == (2, False)
        assert output in run.output


def test_a_place_that_cannot_be_written_is_named() -> None:
    run = CliRunner().invoke(generate, ["/proc/none/store"])
    reason = "/proc/none cannot be written: No such file or directory"
    assert (run.exit_code, run.output) == (2, f"Error: {reason}\n")


def run_command(store: Path, *words: str | Path) -> tuple[int, str]:
    """Return exit code and output of the command that writes a small *store*."""
    options = ("--size", "100K", *words)
    run = CliRunner().invoke(main, ["generate", *map(str, (store, *options))])
    return run.exit_code, run.output


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
    ended, output = run_command(tmp_path / "new" / "store")
    assert ended == code
    assert line in output
    assert not (tmp_path / "new").exists()


def test_an_empty_directory_is_left_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at_the_checkpoint(monkeypatch, OSError(28, "No space left on device"))
    assert run_command(tmp_path)[0] == 2
    assert [*tmp_path.iterdir()] == []


def test_unwritable_labels_leave_no_store(tmp_path: Path) -> None:
    store, labels = tmp_path / "store", tmp_path / "missing" / "labels"
    words = ("--faults", "record-size-plus-one", "--labels", labels)
    code, output = run_command(store, *words)
    assert (code, f"{labels} cannot be written" in output) == (2, True)
    assert not store.exists()


def test_files_of_others_are_kept(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    assert run_command(tmp_path)[0] == 2
    assert [*tmp_path.iterdir()] == [tmp_path / "mine"]
