"""
The first session writes a class archive, later ones map it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_checks.session.class_archive import class_archive


def _java_home(root: Path, text: str) -> Path:
    java = root / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_classes_are_kept_when_java_has_written_all_of_them(tmp_path: Path) -> None:
    home = _java_home(tmp_path / "java", "exec one")
    first = class_archive(home)
    assert first.draft is not None
    assert f"-XX:ArchiveClassesAtExit={first.draft}" in first.options
    first.keep()  # Java was killed: there is no draft
    again = class_archive(home)
    assert again == first
    first.draft.write_bytes(b"classes")
    again.keep()
    assert not first.draft.exists()
    later = class_archive(home)
    assert (later.draft, later.file) == (None, None)
    assert f"-XX:SharedArchiveFile={first.file}" in later.options
    later.keep()
    assert class_archive(home) == later


def test_another_java_has_another_archive(tmp_path: Path) -> None:
    files = {
        class_archive(_java_home(tmp_path / name, f"exec {name}")).file
        for name in ("one", "other")
    }
    assert len(files) == 2


def test_who_has_no_cache_goes_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _java_home(tmp_path / "java", "exec one")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert class_archive(home).options == ""
