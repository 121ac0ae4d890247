"""The default run of mutants: those of a change, and a tenth of the others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from conformance.mutants.choice import Change, change_of, chosen, is_touched
from conformance.mutants.planting import all_mutants

MUTANTS = all_mutants()
MUTANT = MUTANTS["abort_is_never_made"]


def change(*files: str, lines: str = "", commit: str = "0" * 40) -> Change:
    return Change(commit=commit, files=frozenset(files), lines=lines)


def test_ten_commits_run_all_mutants_about_evenly() -> None:
    parts = [chosen(MUTANTS, change(commit=f"{tenth:040x}")) for tenth in range(10)]
    assert sorted(name for part in parts for name in part) == sorted(MUTANTS)
    assert max(map(len, parts)) < 2 * min(map(len, parts))


def test_without_git_all_mutants_run(tmp_path: Path) -> None:
    assert change_of(tmp_path) is None
    assert chosen(MUTANTS, None) == list(MUTANTS)


def test_a_change_of_file_description_test_or_clause_touches_a_mutant() -> None:
    assert MUTANT.caught_by == ("STORE-NAME-005",)
    for touching in (
        change(MUTANT.file),
        change("conformance/mutants/abort_is_never_made.toml"),
        change("conformance/store/files/test_store_tree.py"),
        change("spec/store/file_names.py", lines='+    id="STORE-NAME-005",'),
    ):
        assert is_touched(MUTANT, touching)
    assert not is_touched(MUTANT, change("README.md", lines="+STORE-NAME-004"))


def test_a_change_is_the_last_day_and_what_is_not_committed(tmp_path: Path) -> None:
    def git(*words: str, at: str = "") -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(
            ["git", "-C", tmp_path, *who, *words],  # noqa: S607 # the user's git
            check=True,
            env=os.environ | ({"GIT_COMMITTER_DATE": at} if at else {}),
        )

    git("init", "--quiet")
    clauses = tmp_path / "spec"
    clauses.mkdir()
    for day in (1, 3, 5):
        for hour in (8, 9):
            name = f"{day}-{hour}"
            for path in (tmp_path / name, clauses / f"{day}.py"):
                path.write_text(f"text {path.name} {hour}\n")
            git("add", ".")
            when = f"2026-01-0{day}T0{hour}:00:00+00:00"
            git("commit", "--quiet", "--message", "a change", at=when)
    (tmp_path / "new").touch()

    found = change_of(tmp_path)

    assert found is not None
    assert found.files == {"5-8", "5-9", "spec/5.py", "new"}
    assert "+text 5.py 9" in found.lines
    assert "+text 5-9 9" not in found.lines, "only clauses and tests name clauses"
