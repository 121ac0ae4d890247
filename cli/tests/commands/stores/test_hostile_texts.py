"""Names and keys with control characters: no text output has them raw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.tests.commands.stores.salvage_command import run
from spec.store.file_names import file_name
from spec.store.message_record import Record, encode_record

TOPIC = "T\x1b[31mX\x07"
KEYS = "k\r\n\x1b]0;x\x07\x9b31m\u202e\U000e0001", "\x7f"
"""Keys of each message; DEL is of ASCII, and JSON needs no escape of it."""
REPLACED = "T\N{REPLACEMENT CHARACTER}[31mX\N{REPLACEMENT CHARACTER}"
SIZE = 65_536


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a store with lost messages of a topic with control characters."""
    data = b""
    for number, keys in zip((0, 5), KEYS, strict=True):
        one = Record(
            topic=TOPIC,
            queue_id=0,
            queue_offset=number,
            physical_offset=len(data),
            properties=f"KEYS\x01{keys}\x02",
        )
        data += encode_record(one)
    log = tmp_path / "store" / "commitlog"
    log.mkdir(parents=True)
    (log / file_name(0)).write_bytes(data.ljust(SIZE, b"\0"))
    return log.parent


@pytest.mark.parametrize(
    "words",
    [
        ("dump", "STORE", "--format", "csv"),
        ("dump", "STORE", "--topic", "other"),
        ("salvage", "STORE", "-o", "STORE.new"),
    ],
    ids=" ".join,
)
def test_control_characters_are_replaced(hostile: Path, words: tuple[str, ...]) -> None:
    _, output = run(*[one.replace("STORE", str(hostile)) for one in words])
    assert REPLACED in output
    lines = output.replace("\r\n", "\n").split("\n")
    assert all(line.isprintable() for line in lines)


def test_control_characters_in_json_are_escapes(hostile: Path) -> None:
    _, output = run("dump", hostile)
    lines = output.splitlines()
    assert all(line.isprintable() for line in lines)
    found = [json.loads(line)["properties"]["KEYS"] for line in lines]
    assert found == list(KEYS)


def test_control_characters_of_an_error_are_replaced(tmp_path: Path) -> None:
    (tmp_path / TOPIC).mkdir()
    code, output = run("dump", tmp_path / TOPIC)
    assert (code, REPLACED in output) == (2, True)
    assert "\x1b" not in output
