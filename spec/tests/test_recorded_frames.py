"""Frames that real releases sent are read, and written again byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from spec.wire.command import decode_command, encode_command
from spec.wire.fastjson import dumps, loads

RECORDED = sorted((Path(__file__).parents[2] / "fixtures" / "wire").rglob("*.bin"))
NO_FIELDS = b'"extFields":{},'
"""Java writes this for a header object without fields, and nothing for none at all."""


def name_of(path: Path) -> str:
    """Return how the test of *path* is called."""
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_a_recorded_frame_is_written_again_as_it_was(path: Path) -> None:
    data = path.read_bytes()
    command = decode_command(data)
    again = encode_command(command)
    assert decode_command(again) == command
    assert again[8:] == data[8:].replace(NO_FIELDS, b"", 1)


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_a_recorded_json_body_is_written_again_as_it_was(path: Path) -> None:
    body = decode_command(path.read_bytes()).body
    if body.startswith(b"{"):
        assert dumps(loads(body)) == body
