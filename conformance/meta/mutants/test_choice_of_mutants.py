"""The default run of mutants: those of a change, and a tenth of the others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conformance.mutants.choice import SINCE, Change, change_of, chosen, is_touched
from conformance.mutants.mutant import all_mutants

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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a clone with two commits more than its upstream, and a new file."""
    first, clone = tmp_path / "first", tmp_path / "clone"
    git(tmp_path, "init", "--quiet", str(first))
    commit(first, "1")
    commit(first, "2")
    git(tmp_path, "clone", "--quiet", str(first), str(clone))
    commit(clone, "3")
    commit(clone, "4")
    (clone / "new").touch()
    return clone


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ["git", "-C", str(folder), *who, *words]
    subprocess.run(command, check=True)


def commit(folder: Path, name: str) -> None:
    (folder / "spec").mkdir(exist_ok=True)
    for path in (folder / name, folder / "spec" / f"{name}.py"):
        path.write_text(f"text {path.name}\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "a change")


def test_a_change_is_what_the_upstream_lacks(checkout: Path) -> None:
    found = change_of(checkout)
    assert found is not None
    assert found.files == {"3", "spec/3.py", "4", "spec/4.py", "new"}
    assert "+text 4.py" in found.lines
    assert "+text 4\n" not in found.lines, "only clauses and tests name clauses"


def test_a_change_without_an_upstream_is_the_last_commit(checkout: Path) -> None:
    git(checkout, "checkout", "--quiet", "--detach")
    found = change_of(checkout)
    assert found is not None
    assert found.files == {"4", "spec/4.py", "new"}


def test_a_change_that_the_upstream_has_is_the_last_commit(checkout: Path) -> None:
    git(checkout, "push", "--quiet", "origin", "HEAD:refs/heads/other")
    git(checkout, "branch", "--quiet", "--set-upstream-to=origin/other")
    found = change_of(checkout)
    assert found is not None
    assert found.files == {"4", "spec/4.py", "new"}


def test_a_variable_names_the_commit_before_the_change(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SINCE, "HEAD~3")
    found = change_of(checkout)
    assert found is not None
    assert {"2", "3", "4"} < found.files
