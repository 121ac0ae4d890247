"""
The first session writes a class archive, later ones map it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from java_runtime.class_archive import ClassArchive, writing_options
from spark_checks.session.java_home import class_archive


def _java_home(root: Path, text: str) -> Path:
    java = root / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _written(archive: ClassArchive, content: bytes | None) -> Path | None:
    """Return the draft of a session that writes *content*, or is killed without it."""
    with archive.draft() as draft:
        if draft is not None and content is not None:
            assert f"-XX:ArchiveClassesAtExit={draft}" in writing_options(draft)
            draft.write_bytes(content)
    return draft


def test_classes_are_kept_when_java_has_written_all_of_them(tmp_path: Path) -> None:
    archive = class_archive(_java_home(tmp_path / "java", "exec one"))
    assert _written(archive, None) is not None
    assert archive.options() == ()
    draft = _written(archive, b"classes")
    assert draft is not None
    assert not draft.exists()
    assert archive.file.read_bytes() == b"classes"
    assert f"-XX:SharedArchiveFile={archive.file}" in archive.options()
    assert _written(archive, b"others") is None


def test_an_interrupted_session_leaves_no_draft(tmp_path: Path) -> None:
    archive = class_archive(_java_home(tmp_path / "java", "exec one"))

    def interrupted() -> None:
        with archive.draft() as draft:
            assert draft is not None
            draft.write_bytes(b"a part of the classes")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [one.suffix for one in archive.file.parent.iterdir()] == [".lock"]
    assert archive.options() == ()


def test_of_two_sessions_at_a_time_one_writes(tmp_path: Path) -> None:
    archive = class_archive(_java_home(tmp_path / "java", "exec one"))
    with archive.draft() as first, archive.draft() as second:
        assert (first is None, second) == (False, None)


def test_another_java_has_another_archive(tmp_path: Path) -> None:
    files = {
        class_archive(_java_home(tmp_path / name, f"exec {name}")).file
        for name in ("one", "other")
    }
    assert len(files) == 2


def test_who_has_no_cache_goes_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    archive = class_archive(_java_home(tmp_path / "java", "exec one"))
    assert _written(archive, b"classes") is None
    assert archive.options() == ()


def test_a_user_without_a_home_has_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", missing)
    archive = class_archive(_java_home(tmp_path / "java", "exec one"))
    assert _written(archive, b"classes") is None
    assert archive.options() == ()


def test_an_archive_that_may_not_be_read_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = class_archive(_java_home(tmp_path / "java", "exec one"))
    _written(archive, b"classes")
    assert archive.options() != ()
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    assert archive.options() == ()
