"""An archive of classes is made once, and no start depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.harness.java.warm_up import archive_options

MAKES = "-XX:ArchiveClassesAtExit="
USES = "-XX:SharedArchiveFile="


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a jar of a program whose archives are kept apart."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    jar = tmp_path / "program.jar"
    jar.write_bytes(b"classes")
    return jar


class Program:
    """A program that leaves an archive, or none, when it is run."""

    def __init__(self, content: bytes | None) -> None:
        self.content = content
        self.run_count = 0

    def run(self, options: Sequence[str]) -> None:
        """Do what Java does at the end of a run."""
        self.run_count += 1
        (draft,) = (word.removeprefix(MAKES) for word in options if MAKES in word)
        if self.content is not None:
            Path(draft).write_bytes(self.content)


def used(options: Sequence[str]) -> list[bytes]:
    """Return the archives that are used."""
    return [
        Path(word.removeprefix(USES)).read_bytes() for word in options if USES in word
    ]


def test_the_first_start_makes_it_and_all_use_it(jar: Path) -> None:
    program = Program(b"laid out")
    found = [used(archive_options([f"{jar}"], program.run)) for _ in range(3)]
    assert found == [[b"laid out"]] * 3
    assert program.run_count == 1


def test_another_jar_or_option_has_another(jar: Path) -> None:
    program = Program(b"laid out")
    archive_options([f"{jar}"], program.run)
    archive_options(["-Xint", f"{jar}"], program.run)
    jar.touch()
    archive_options([f"{jar}"], program.run)
    assert program.run_count == 3


def test_java_that_makes_none_is_asked_once(jar: Path) -> None:
    program = Program(None)
    found = [archive_options([f"{jar}"], program.run) for _ in range(3)]
    assert found == [()] * 3
    assert program.run_count == 1


def test_who_comes_while_it_is_made_goes_without(jar: Path) -> None:
    seen: list[tuple[str, ...]] = []

    def run(_: Sequence[str]) -> None:
        seen.append(archive_options([f"{jar}"], run))

    archive_options([f"{jar}"], run)
    assert seen == [()]
