"""Each call by which the shell changes a disk may fail: the error is a FilesError."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reference.core.store.mapped.files import FilesError
from reference.shell.storage.disk import DiskFile, DiskFiles
from reference.tests.shell.failing_calls import ERRORS, NEVER, FailingCalls, open_count

SIZE = 1 << 17
FOREVER = 1 << 30
REFUSED_STEPS = 15
"""All steps but unlocking and both of closing."""
TEXT = '{"offsetTable":{}}'


class Work:
    """Everything that a broker does with its files, in steps that can be repeated."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._log: DiskFile | None = None

    def open(self) -> None:
        """Open the directory."""
        self.files = DiskFiles(self.directory)

    def steps(self) -> list[Callable[[], None]]:
        """Return the steps in order."""
        return [
            self.open,
            lambda: self.files.lock(),
            lambda: self.files.replace_text("abort", ""),
            lambda: self.log.write(b"first", 0),
            lambda: self.log.write(b"x" * 50_000, 20_000),
            lambda: self.log.write_words(b"abcdefgh", [80_000, 100_000]),
            lambda: self.log.reserve(90_000, 30_000),
            lambda: self.log.flush(),
            lambda: self.files.replace_text("config/topics.json", "{}"),
            lambda: self.files.replace_text("config/topics.json", TEXT),
            lambda: self.log.clear(60_000),
            self.close,
            lambda: self.log.write(b"again", 10),
            lambda: self.log.flush(),
            self.close,
            lambda: self.files.delete("abort"),
            self.check_names,
            lambda: self.files.unlock(),
        ]

    @property
    def log(self) -> DiskFile:
        """The only mapped file, opened when it is needed."""
        if self._log is None:
            self._log = self.files.open("commitlog/00000000000000000000", SIZE)
        return self._log

    def close(self) -> None:
        """Close the mapped file."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def check_names(self) -> None:
        """Assert that the directory has its one file."""
        assert self.files.names("commitlog") == ["00000000000000000000"]

    def content(self) -> dict[str, bytes]:
        """Return the content of all files but the lock, by path."""
        return {
            str(path.relative_to(self.directory)): path.read_bytes()
            for path in sorted(self.directory.rglob("*"))
            if path.is_file() and path.name != "lock"
        }


def finished(work: Work) -> Work:
    """Return *work* after all steps; one that fails is repeated once."""
    for step in work.steps():
        try:
            step()
        except FilesError:
            step()
    return work


def clean_run(directory: Path, calls: FailingCalls) -> tuple[int, dict[str, bytes]]:
    """Return the number of calls without a failure, and the files then."""
    calls.fail(NEVER, NEVER, ERRORS["EIO"])
    content = finished(Work(directory)).content()
    return calls.count, content


@pytest.mark.parametrize("name", ERRORS)
def test_a_failed_call_is_an_error_of_files_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls = FailingCalls(monkeypatch)
    count, expected = clean_run(tmp_path / "clean", calls)
    assert count > 50
    opened = open_count()
    failed: set[str] = set()
    for number in range(count):
        calls.fail(number, number, ERRORS[name])
        work = finished(Work(tmp_path / str(number)))
        failed |= set(calls.failed)
        calls.stop()
        assert work.content() == expected, (number, calls.failed)
        assert open_count() == opened, (number, calls.failed)
    assert failed >= ({"pwrite"} if name == "short" else {"mmap", "utime", "replace"})


@pytest.mark.parametrize("name", [name for name in ERRORS if name != "short"])
def test_each_step_on_a_disk_that_refuses_everything_is_an_error_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls = FailingCalls(monkeypatch)
    work = Work(tmp_path / "store")
    refused = 0
    for step in work.steps():
        calls.fail(0, FOREVER, ERRORS[name])
        try:
            step()
        except FilesError:
            refused += 1
        calls.stop()
        step()
    assert refused == REFUSED_STEPS
