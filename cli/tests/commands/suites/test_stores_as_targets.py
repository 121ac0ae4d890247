"""``rmqc test --target store:DIR`` runs the suite that needs no broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.runs.suites import target_runs

LINE = "store: the suite store; the others need a running broker\n"


@pytest.mark.parametrize(
    ("targets", "suite", "folders", "line"),
    [
        (["store:s"], [], {"store"}, LINE),
        (["store:s", "store:t"], [], {"store"}, LINE),
        (["store:s"], ["--suite", "recovery"], {"recovery"}, ""),
        (["store:s", "embedded:"], [], {"store", "wire", "recovery"}, ""),
    ],
)
def test_only_the_suite_about_files_examines_a_store(
    targets: list[str],
    suite: list[str],
    folders: set[str],
    line: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[str] = []

    def run(_name: str, words: list[str], _reports: list[str]) -> int:
        given[:] = words
        return 0

    monkeypatch.setattr(target_runs, "run_pytest", run)
    named = [word for one in targets for word in ("--target", one)]
    printed = CliRunner().invoke(main, ["test", *named, *suite, "--jobs", "0"])
    assert printed.exit_code == 0, printed.output
    run_folders = {Path(word).name for word in given if Path(word).is_dir()}
    assert folders <= run_folders
    assert len(folders) > 1 or folders == run_folders
    assert printed.stderr == line
