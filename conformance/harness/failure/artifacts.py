"""
Files of a failing test beside the report: a capture, and sometimes test vectors.

File names are those of the tests, so that a folder is readable without the report.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.failure.capture import capture_of
from conformance.harness.failure.counterexample import counterexample
from conformance.harness.failure.examples import notes_of

CAPTURES, COUNTEREXAMPLES = "captures", "counterexamples"
FOLDERS = {CAPTURES: ".pcapng", COUNTEREXAMPLES: ".json"}
"""Folders of a report, each with the suffix of its files."""
MOST_NAME = 100
"""Characters of a file's name, without its suffix."""
_BEGINS = "_conversations_begin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """Files about one failure, relative to the report's directory; empty for none."""

    capture: str = ""
    vector: str = ""
    problem: str = ""
    """Reason why a file is missing."""

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the file of each that there is."""
        if self.capture:
            yield "capture", self.capture
        if self.vector:
            yield "vectors", self.vector


NOTHING = Artifacts()


def begin(item: pytest.Item) -> None:
    """Drop earlier transcript entries, which are not of this test.

    A test with generated examples drops them again before each example.
    """
    CONVERSATIONS.begin()
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    inner = getattr(handle, "inner_test", None)
    if handle is None or inner is None or hasattr(inner, _BEGINS):
        return

    @functools.wraps(inner)
    def example(*args: Any, **values: Any) -> Any:
        CONVERSATIONS.begin()
        return inner(*args, **values)

    setattr(example, _BEGINS, True)
    handle.inner_test = example


def keep(
    directory: Path | None, item: pytest.Item, error: BaseException, clauses: list[str]
) -> Artifacts:
    """Write the transcripts of the failed *item* into *directory*, if there is one."""
    try:
        return _keep(directory, item, error, clauses)
    except OSError as problem:
        return Artifacts(problem=f"not written: {problem.strerror}")


def _keep(
    directory: Path | None, item: pytest.Item, error: BaseException, clauses: list[str]
) -> Artifacts:
    transcripts = CONVERSATIONS.transcripts()
    if directory is None or not transcripts:
        return NOTHING
    name = file_name(item.nodeid)
    comment = f"{item.nodeid}\n{error}"[: 1 << 14]
    capture = _path(CAPTURES, name)
    _write(directory / capture, capture_of(transcripts, comment))
    vector = _path(COUNTEREXAMPLES, name)
    notes = " ".join(" ".join(notes_of(error, item)).split())
    text = None
    if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        text = counterexample(
            transcripts, clauses=clauses, example=notes, test=item.nodeid
        )
    if text is None:
        return Artifacts(capture=str(capture))
    _write(directory / vector, text.encode())
    return Artifacts(capture=str(capture), vector=str(vector))


def file_name(node_id: str) -> str:
    """Return a name for the files of a test: its own, and a mark where it was cut."""
    test = node_id.rpartition("/")[2].replace(".py::", ".")
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", test).strip("-")
    if plain == test and len(plain) <= MOST_NAME:
        return plain
    mark = hashlib.sha256(node_id.encode()).hexdigest()[:6]
    return f"{plain[:MOST_NAME]}-{mark}"


def _path(folder: str, name: str) -> Path:
    return Path(folder, name + FOLDERS[folder])


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
