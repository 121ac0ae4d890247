"""Traces that the clients of four releases sent are read, and written again."""

from __future__ import annotations

from pathlib import Path

import pytest

from spec.clause import release_key
from spec.wire.message.properties import decode_properties, keys_of
from spec.wire.message.trace import TraceLine, decode_trace, encode_trace

PARTS = Path(__file__).parents[3] / "fixtures" / "parts"
BODIES = sorted(PARTS.glob("*-traces/*.body"))


def name_of(path: Path) -> str:
    """Return the test id of *path*."""
    return f"{path.parent.name}-{path.stem}"


def lines_of(path: Path) -> list[TraceLine]:
    """Return the lines of the trace message at *path*."""
    return decode_trace(path.read_bytes())


def test_every_release_is_here() -> None:
    found = {path.parent.name.partition("-")[0] for path in BODIES}
    assert found == {"4.4.0", "4.6.0", "4.9.7", "5.3.3"}


@pytest.mark.parametrize("path", BODIES, ids=name_of)
def test_a_recorded_trace_is_written_again_as_it_was(path: Path) -> None:
    assert encode_trace(lines_of(path)) == path.read_bytes()


@pytest.mark.parametrize("path", BODIES, ids=name_of)
def test_the_words_of_a_recorded_trace_are_what_they_are_called(path: Path) -> None:
    release = path.parent.name.partition("-")[0]
    for line in lines_of(path):
        assert len(line.words["unique_key"]) == 32
        if line.kind == "Pub":
            assert line.words["topic"] == "TopicTest"
            assert line.words["body_size"] == "11"
            assert line.words["success"] == "true"
        if line.kind == "SubAfter":
            has_group = release_key(release) >= (4, 8)
            assert ("group" in line.words) == has_group
        if line.kind == "SubBefore":
            assert line.words["group"] == "CID_JODIE_1"
        assert line.words["keys"] == "OrderID188"
        assert all(not name.isdigit() for name in line.words)


@pytest.mark.parametrize("path", BODIES, ids=name_of)
def test_a_trace_message_is_found_by_what_it_reports_on(path: Path) -> None:
    text = path.with_suffix(".properties").read_text(encoding="utf-8")
    keys = set(keys_of(decode_properties(text)))
    assert {line.words["unique_key"] for line in lines_of(path)} <= keys
