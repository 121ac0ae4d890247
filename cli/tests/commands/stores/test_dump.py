"""``rmqc dump``: the messages of a store, line by line."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import zlib
from errno import EACCES
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from rocketmq_conformance.paths import module_command
from spec.store.blank import Blank, encode_blank
from spec.store.message_record import Record, SystemFlag, encode_record

SIZE = 4096
MESSAGES: list[tuple[str, bytes, int]] = [
    ("A", b"plain", 0),
    ("B", b"\xff\x00", 0),
    ("A", zlib.compress(b"inflated"), SystemFlag.COMPRESSED),
    ("B", b"not compressed", SystemFlag.COMPRESSED),
    ("A", b"lz4 or other", SystemFlag.COMPRESSED | 1 << 8),
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store of two files: each has all messages."""
    log = tmp_path / "store" / "commitlog"
    log.mkdir(parents=True)
    for base in (0, SIZE):
        data = b""
        for number, (topic, body, flags) in enumerate(MESSAGES):
            data += encode_record(
                Record(
                    topic=topic,
                    queue_id=number,
                    queue_offset=7,
                    physical_offset=base + len(data),
                    body=body,
                    system_flags=flags,
                    properties=f"KEYS\x01k{number} all\x02UNIQ_KEY\x01U{number}\x02",
                    stored_at_ms=base + number,
                )
            )
        data += encode_blank(Blank(size=SIZE - len(data)))
        (log / f"{base:020d}").write_bytes(data.ljust(SIZE, b"\0"))
    return tmp_path / "store"


def dumped(*words: str | Path) -> tuple[int, list[str], str]:
    """Return exit code, lines and errors of ``rmqc dump``."""
    result = CliRunner().invoke(main, ["dump", *map(str, words)])
    return result.exit_code, result.stdout.splitlines(), result.stderr


def test_each_message_is_an_object_with_its_body_as_sent(store: Path) -> None:
    code, lines, errors = dumped(store)
    assert (code, errors) == (0, "")
    found = [json.loads(line) for line in lines]
    assert [one["topic"] for one in found] == ["A", "B", "A", "B", "A"] * 2
    assert [one["queue"] for one in found] == [0, 1, 2, 3, 4] * 2
    bodies = [
        (one.get("body"), one.get("bodyBase64"), one.get("compression"))
        for one in found[:5]
    ]
    assert bodies == [
        ("plain", None, None),
        (None, base64.b64encode(b"\xff\x00").decode(), None),
        ("inflated", None, None),
        ("not compressed", None, "invalid"),
        ("lz4 or other", None, "other"),
    ]
    assert found[5]["offset"] == SIZE
    assert found[0]["properties"] == {"KEYS": "k0 all", "UNIQ_KEY": "U0"}


@pytest.mark.parametrize(
    ("words", "times"),
    [
        (["--topic", "B"], [1, 3, SIZE + 1, SIZE + 3]),
        (["--key", "k2"], [2, SIZE + 2]),
        (["--key", "U3"], [3, SIZE + 3]),
        (["--key", "k"], []),
        (["--from", "0000000003", "--to", "0000004097"], [3, 4, SIZE]),
        (["--to", "1970-01-01T00:00:00.002"], [0, 1]),
        (["--topic", "A", "--key", "all", "--from", "1970-01-01T00:00:01"], [0, 2, 4]),
    ],
)
def test_messages_are_selected(store: Path, words: list[str], times: list[int]) -> None:
    code, lines, _ = dumped(store, *words)
    assert code == 0
    expected = [SIZE + one for one in times] if "00:00:01" in words[-1] else times
    assert [json.loads(line)["storeTime"] for line in lines] == expected


@pytest.mark.parametrize("end", ["0000000003", "0000000002"])
def test_a_range_of_times_without_a_time_is_refused(store: Path, end: str) -> None:
    code, lines, errors = dumped(store, "--from", "0000000003", "--to", end)
    assert (code, lines) == (2, [])
    assert errors.startswith("Error: --from is not before --to\n")


def test_the_help_lists_every_key_of_an_object(store: Path) -> None:
    _, lines, _ = dumped(store)
    keys = {key for line in lines for key in json.loads(line)}
    words = CliRunner().invoke(main, ["dump", "--help"]).output.replace(",", " ")
    assert keys - set(words.replace(".", " ").split()) == set()
    assert {"bornHost", "bodyBase64", "compression"} <= keys


def test_rows_and_bodies(store: Path) -> None:
    first = store / "commitlog" / f"{0:020d}"
    assert dumped(first, "--format", "csv")[1][:2] == [
        "offset,topic,queue,queueOffset,storeTime,keys,bodySize",
        "0,A,0,7,0,k0 all,5",
    ]
    assert dumped(first, "--format", "bodies", "--topic", "A")[1] == [
        "plain",
        "inflated",
        "lz4 or other",
    ]


def test_damage_is_passed_over_with_a_line(store: Path) -> None:
    path = store / "commitlog" / f"{0:020d}"
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(data)
    code, lines, errors = dumped(store)
    assert (code, len(lines)) == (1, 9)
    assert errors.startswith("no readable message from 0 to 1")
    assert errors.count("\n") == 1


def test_the_zeros_of_a_running_broker_are_the_end_of_the_log(store: Path) -> None:
    log = store / "commitlog"
    last = log / f"{SIZE:020d}"
    written = last.read_bytes().index(encode_blank(Blank(size=SIZE))[4:]) - 4
    last.write_bytes(last.read_bytes()[:written].ljust(SIZE, b"\0"))
    (log / f"{2 * SIZE:020d}").write_bytes(bytes(SIZE))
    code, lines, errors = dumped(store)
    assert (code, len(lines), errors) == (0, 10, "")
    (log / f"{2 * SIZE:020d}").write_bytes(bytes(SIZE - 1) + b"x")
    code, lines, errors = dumped(store)
    assert (code, len(lines), errors.count("\n")) == (1, 10, 1)


@pytest.mark.parametrize("kind", ["a directory", "a broken link"])
def test_an_entry_that_is_no_file_is_incomplete_output(store: Path, kind: str) -> None:
    last = store / "commitlog" / f"{SIZE:020d}"
    last.unlink()
    if kind == "a directory":
        last.mkdir()
    else:
        last.symlink_to("gone")
    code, lines, errors = dumped(store)
    assert (code, len(lines)) == (1, 5)
    assert errors == f"commitlog/{last.name} is {kind}: its messages are missing\n"


def test_what_is_no_log_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for source in (tmp_path, tmp_path / "file"):
        code, lines, errors = dumped(source)
        assert (code, lines, errors.count("\n")) == (2, [], 1)


def test_a_consume_queue_is_no_log(tmp_path: Path) -> None:
    queue = tmp_path / "consumequeue" / "T" / "0" / f"{0:020}"
    queue.parent.mkdir(parents=True)
    queue.write_bytes(bytes(20))
    result = CliRunner().invoke(main, ["dump", str(queue)])
    assert result.exit_code == 2
    assert (
        result.output == f"Error: {queue} is a consume queue: rmqc inspect prints it\n"
    )


def test_a_topic_without_messages_is_told_beside_those_that_have_some(
    store: Path,
) -> None:
    result = CliRunner().invoke(main, ["dump", str(store), "--topic", "a"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no message of topic a; topics here: A, B\n"


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("has_messages", [False, True])
def test_a_file_that_is_too_long_is_one_line(
    store: Path, number: int, *, has_messages: bool
) -> None:
    path, other = (store / "commitlog" / f"{n * SIZE:020}" for n in (number, 1))
    more = other.read_bytes() if has_messages else bytes(SIZE) * 2
    path.write_bytes(path.read_bytes() + more)
    code, lines, errors = dumped(store)
    assert (code, len(lines)) == (1, 2 * len(MESSAGES))
    line = f"commitlog/{path.name} is too long: its bytes behind {SIZE:,} are not read"
    assert errors == f"{line}\n"


@pytest.mark.parametrize(
    ("call", "name"), [("iterdir", "commitlog"), ("open", f"commitlog/{SIZE:020}")]
)
def test_a_log_that_cannot_be_read_is_not_called_empty(
    store: Path, monkeypatch: pytest.MonkeyPatch, call: str, name: str
) -> None:
    def denied(path: Path, *_: object) -> None:
        raise PermissionError(EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, call, denied)
    code, lines, errors = dumped(store)
    assert (code, lines) == (2, [])
    assert errors == f"Error: {store / name} cannot be read: Permission denied\n"


def test_an_empty_file_has_no_message(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}"
    path.touch()
    result = CliRunner().invoke(main, ["dump", str(path)])
    assert (result.exit_code, result.output) == (0, "")


def test_an_interrupted_dump_ends_with_130(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "reference.core.salvage.readable_records.record_of", interrupted
    )
    result = CliRunner().invoke(main, ["dump", str(store)])
    assert (result.exit_code, result.output) == (130, "Error: interrupted\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["dump"], ["recover", "--release", "4.6"]])
def test_a_full_disk_ends_a_command_with_one_line(
    store: Path, words: list[str], unbuffered: str
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            module_command("cli", *words, str(store)),
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "Error: the output cannot be written: No space left on device\n"
    )
