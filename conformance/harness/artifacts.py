"""
What a failing test leaves beside the report: a capture, and perhaps test vectors.

The names are those of the tests, so that whoever looks at a folder of them knows which
is which without the report.
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

from conformance.harness.capture import capture_of
from conformance.harness.conversations import CONVERSATIONS
from conformance.harness.counterexample import counterexample

CAPTURES, COUNTEREXAMPLES = "captures", "counterexamples"
MOST_NAME = 100
"""Characters of a file's name, without its suffix."""
_BEGINS = "_conversations_begin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """Files about one failure, relative to the report's directory; empty for none."""

    capture: str = ""
    vector: str = ""

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the file of each that there is."""
        if self.capture:
            yield "capture", self.capture
        if self.vector:
            yield "vectors", self.vector


NOTHING = Artifacts()


def begin(item: pytest.Item) -> None:
    """Begin to listen: what was said before is not this test's.

    A test of generated examples begins anew with each of them.
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
    """Write what *item* said before it failed into *directory*, where there is one."""
    said = CONVERSATIONS.said()
    if directory is None or not said:
        return NOTHING
    name = file_name(item.nodeid)
    comment = f"{item.nodeid}\n{error}"[: 1 << 14]
    capture = Path(CAPTURES, f"{name}.pcapng")
    _write(directory / capture, capture_of(said, comment))
    vector = Path(COUNTEREXAMPLES, f"{name}.json")
    notes = " ".join(" ".join(getattr(error, "__notes__", ())).split())
    text = None
    if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        text = counterexample(said, clauses=clauses, example=notes, test=item.nodeid)
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


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
