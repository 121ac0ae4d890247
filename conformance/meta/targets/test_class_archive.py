"""An archive of classes is made once, and no start depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.harness.java.warm_up import archive_options

USES = "-XX:SharedArchiveFile="


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a jar of a program whose archives are kept apart."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    jar = tmp_path / "program.jar"
    jar.write_bytes(b"classes")
    return jar


class Program:
    """A program whose classes can be archived, or cannot."""

    def __init__(self, content: bytes | None) -> None:
        self.content = content
        self.run_count = 0

    def write(self, draft: Path) -> None:
        """Write the archive, as Java does after a run of the program."""
        self.run_count += 1
        if self.content is not None:
            draft.write_bytes(self.content)


def used(options: Sequence[str]) -> list[bytes]:
    """Return the archives that are used."""
    return [
        Path(word.removeprefix(USES)).read_bytes() for word in options if USES in word
    ]


def test_the_first_start_makes_it_and_all_use_it(jar: Path) -> None:
    program = Program(b"laid out")
    found = [used(archive_options([f"{jar}"], program.write)) for _ in range(3)]
    assert found == [[b"laid out"]] * 3
    assert program.run_count == 1


def test_another_jar_or_option_has_another(jar: Path) -> None:
    program = Program(b"laid out")
    archive_options([f"{jar}"], program.write)
    archive_options(["-Xint", f"{jar}"], program.write)
    jar.touch()
    archive_options([f"{jar}"], program.write)
    assert program.run_count == 3


def test_java_that_makes_none_is_asked_once(jar: Path) -> None:
    program = Program(None)
    found = [archive_options([f"{jar}"], program.write) for _ in range(3)]
    assert found == [()] * 3
    assert program.run_count == 1


def test_who_comes_while_it_is_made_goes_without(jar: Path) -> None:
    seen: list[tuple[str, ...]] = []

    def write(_: Path) -> None:
        seen.append(archive_options([f"{jar}"], write))

    archive_options([f"{jar}"], write)
    assert seen == [()]
