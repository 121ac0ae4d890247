"""
``rmqc generate`` writes a store and its labels, or reports an error.
"""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from cli.commands.stores.generate import generate


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
        store = str(tmp_path / str(len(options[1])))
        run = CliRunner().invoke(generate, [store, *options])
        assert run.exit_code == 2
        assert output in run.output


def test_a_place_that_cannot_be_written_is_named() -> None:
    run = CliRunner().invoke(generate, ["/proc/none/store"])
    reason = "/proc/none cannot be written: No such file or directory"
    assert (run.exit_code, run.output) == (2, f"Error: {reason}\n")
