"""Output and exit codes of ``rmqc inspect``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from errno import EACCES
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from cli.commands.stores.inspect import inspect
from conformance.harness.client.transcript import Direction, Entry, Transcript
from conformance.harness.failure.capture import capture_of
from spec.store.message_record import Record, encode_record
from spec.wire.remoting.command import Command, encode_command

STORE = Path(__file__).parents[4] / "fixtures" / "store" / "4.6.0-stopped"
FIRST = encode_record(
    Record(topic="T", queue_id=0, queue_offset=0, physical_offset=4096, body=b"one")
)
SECOND = encode_record(
    Record(
        topic="T",
        queue_id=0,
        queue_offset=1,
        physical_offset=4096 + len(FIRST),
        body=b"two",
    )
)


def run(*arguments: str) -> Result:
    """Return the result of the command; an exception fails the test."""
    return CliRunner().invoke(inspect, list(arguments), catch_exceptions=False)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a commit-log file of two records."""
    path = tmp_path / "commitlog" / "00000000000000004096"
    path.parent.mkdir()
    path.write_bytes((FIRST + SECOND).ljust(4096, b"\0"))
    return path


def test_a_file_is_explained_from_its_beginning(log: Path) -> None:
    result = run(str(log))
    assert result.exit_code == 0
    assert result.output.startswith(f"message record, {len(FIRST)} bytes\n")
    assert "'one'" in result.output


@pytest.mark.parametrize("base", [0, 4096])
def test_an_offset_is_of_the_file_or_of_the_log(log: Path, base: int) -> None:
    for at in (f"{base + len(FIRST)}", f"{base + len(FIRST):#x}"):
        result = run(f"{log}@{at}")
        assert result.exit_code == 0
        assert "'two'" in result.output


def test_an_offset_inside_a_record_names_its_begin(log: Path) -> None:
    begin = len(FIRST)
    for at, expected in ((10, 0), (begin - 1, 0), (begin + 1, begin)):
        result = run(f"{log}@{at}")
        assert result.exit_code == 2
        assert result.output == (
            f"Error: {log}@{at}: no record begins here; the one around it begins at"
            f" {expected}: {log}@{expected}\n"
        )


def test_a_size_beyond_the_bytes_that_are_read_names_their_number(log: Path) -> None:
    size = 20 << 20
    log.write_bytes((size + 1).to_bytes(4, "big") + FIRST[4:])
    os.truncate(log, size)
    result = run(str(log))
    assert result.exit_code == 2
    assert result.output.endswith(" (only 17,825,792 bytes are read)\n")


def test_several_things_are_explained_one_after_the_other(log: Path) -> None:
    result = run(str(log), "--count", "2")
    assert result.exit_code == 0
    assert result.output.count("message record, ") == 2


def test_releases_and_issues_are_printed_once_for_a_kind(log: Path) -> None:
    output = run(str(log), "--count", "2").output
    assert output.count("  known issues\n") == output.count("  by release\n") == 1
    both = run(str(log), "--count", "2", "--brief").output
    assert "  known issues\n" not in both
    assert both.count("[STORE-RECORD-005]") == 2


def test_a_damaged_record_is_a_finding(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[89] ^= 1
    log.write_bytes(data)
    result = run(str(log))
    assert result.exit_code == 1
    assert "✗ body_crc" in result.output


@pytest.mark.parametrize("form", ["{}", "0x{}", " {} "])
def test_hex_digits_are_explained(form: str) -> None:
    digits = encode_command(Command(105, fields={"topic": "T"})).hex()
    result = run(form.format(digits))
    assert result.exit_code == 0
    assert "105 (GET_ROUTEINFO_BY_TOPIC)" in result.output


def test_a_unit_names_the_command_for_its_record_and_the_due_time() -> None:
    folder = STORE / "consumequeue" / "SCHEDULE_TOPIC_XXXX" / "0"
    output = run(str(next(folder.glob("0*")))).output
    code = re.search(r"tags_code +(\d+)", output)
    assert code is not None
    due = datetime.fromtimestamp(int(code[1]) / 1000, UTC)
    assert f"due: {code[1]} ({due.isoformat(timespec='milliseconds')})\n" in output
    offset = re.search(r"commit_log_offset +(\d+)", output)
    command = re.search(r"record: rmqc inspect (\S+)", output)
    assert offset is not None
    assert command is not None
    assert command[1].endswith(f"@{offset[1]}")
    record = run(command[1], "--brief")
    assert record.exit_code == 0
    assert re.search(rf"physical_offset +{offset[1]}\b", record.output)


def test_a_tags_code_that_is_a_hash_has_no_time() -> None:
    folder = STORE / "consumequeue" / "HandoverOrders"
    output = run(str(next(folder.glob("*/0*")))).output
    assert "record: rmqc inspect " in output
    assert "due:" not in output


def test_a_message_id_and_a_unique_key_are_told_apart() -> None:
    assert "10911" in run("7F00000100002A9F00000000000010E1").output
    assert "counter" in run("7F0000013D0C18B4AAC25D2A3F5E0003").output


def test_a_unique_key_of_no_month_is_wrong() -> None:
    result = run("AC11000100002A9F18B4AAC2A1B2000A")
    assert result.exit_code == 1
    assert "since_month_ms: longer than a month" in result.output


def test_an_entry_about_one_release_names_it_once() -> None:
    assert "  only 4.6: " in run("7F0000013D0C18B4AAC25D2A3F5E0003").output


def test_a_kind_can_be_demanded() -> None:
    key = "7F00000100002A9F00000000000010E1"
    assert run(key, "--as", "unique key").output.startswith("unique key, 16 bytes")


@pytest.mark.parametrize(
    "what",
    ["", "nosuch", "abc", "zz", "00", "x" * 5000, "\0", "a@b", "[" * 99, "0x", "é"],
)
def test_what_is_nothing_is_one_clear_line(what: str) -> None:
    result = run(what)
    assert result.exit_code == 2
    assert len(result.output.strip().splitlines()) == 1
    assert result.output.startswith("Error: ")


@pytest.mark.parametrize("at", ["@-1", "@x", "@0xZZ", "@999999999999999999999", "@300"])
def test_an_offset_that_is_none_is_one_clear_line(log: Path, at: str) -> None:
    result = run(f"{log}{at}")
    assert result.exit_code == 2
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.parametrize("size", range(0, len(FIRST), 7))
def test_a_truncated_file_is_one_clear_line(log: Path, size: int) -> None:
    log.write_bytes(FIRST[:size])
    result = run(str(log))
    assert result.exit_code == 2
    assert len(result.output.strip().splitlines()) == 1


def test_the_hint_for_a_directory_names_a_file_or_the_audit(log: Path) -> None:
    store = log.parents[1]
    of_store = run(str(store)).output
    assert f"`rmqc inspect {log}`" in of_store
    assert f"`rmqc audit {store}`" in of_store
    assert run(str(log.parent)).output.endswith(f"name a file in it, such as {log}\n")


def test_a_field_wider_than_the_terminal_has_its_remark_below(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(str(log)).output.splitlines()
    size = next(n for n, line in enumerate(lines) if " size " in line)
    assert lines[size].rstrip().endswith(f" {len(FIRST)}")
    assert lines[size + 1].startswith(f"{' ' * 18}# bytes of this record")


def test_a_directory_and_a_foreign_file_are_one_clear_line(tmp_path: Path) -> None:
    foreign = tmp_path / "letter.txt"
    foreign.write_text("Dear reader,\n" * 9, encoding="utf-8")
    for path in (tmp_path, foreign):
        result = run(str(path))
        assert result.exit_code == 2
        assert len(result.output.strip().splitlines()) == 1


STORE = Path(__file__).parents[4] / "fixtures" / "store" / "4.6.0-stopped"
WIRE = Path(__file__).parents[4] / "fixtures" / "wire"


def first_index_file() -> Path:
    """Return an index file of 100 slots that 4.6.0 wrote."""
    return min((STORE / "index").iterdir())


def test_a_directory_that_cannot_be_read_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: Path) -> Iterator[Path]:
        raise PermissionError(EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", denied)
    ended = run(str(tmp_path))
    assert ended.exit_code == 2
    assert ended.output == f"Error: {tmp_path}: Permission denied\n"


def test_a_value_means_what_it_means_in_the_release() -> None:
    path = str(first_index_file())
    old = run(path, "--release", "4.6.0").output
    new = run(path, "--release", "5.4.0").output
    assert "by release (4.6.0)\n" in old
    assert "counts items, not slots. [INDEX-HEADER-005]" in old
    assert "counts the slots that hold an item. [INDEX-HEADER-006]" in new
    assert "INDEX-HEADER-005" not in new
    both = run(path).output
    assert "up to 4.7.0: " in both
    assert "since 4.7.1: " in both


def test_fields_have_their_clauses_and_the_clauses_their_issues(log: Path) -> None:
    output = run(str(log)).output
    line = next(one for one in output.splitlines() if " queue_offset " in one)
    assert line.endswith("# index of the message in its queue [STORE-RECORD-005]")
    assert "  known issues\n" in output
    assert "apache/rocketmq#7689" in output


@pytest.mark.parametrize(
    ("position", "place"),
    [(40, "slot 0 of 100"), (436, "slot 99 of 100"), (460, "item 1"), (480, "item 2")],
)
def test_slots_and_items_of_an_index_file_are_told_apart(
    position: int, place: str
) -> None:
    output = run(f"{first_index_file()}@{position}").output
    assert f"place: {place}\n" in output


def test_an_empty_slot_is_legal(tmp_path: Path) -> None:
    path = tmp_path / "index" / first_index_file().name
    path.parent.mkdir()
    data = first_index_file().read_bytes()
    path.write_bytes(data[:40].ljust(len(data), b"\0"))
    result = run(f"{path}@40")
    assert (result.exit_code, "slot 0 of 100" in result.output) == (0, True)


def test_the_slot_count_can_be_given() -> None:
    output = run(f"{first_index_file()}@460", "--slots", "2000").output
    assert "place: slot 105 of 2000\n" in output


def test_header_fields_are_explained_by_name() -> None:
    frame = WIRE / "4.6.0-json" / "send_message_v2.request.bin"
    output = run(frame.read_bytes().hex()).output
    assert "'b' = 'TopicTest'  # topic: String, required\n" in output
    assert "# bornTimestamp: Long, required (2026-" in output
    assert "'UNIQ_KEY' = " in output
    assert "version 333 (4.6.0)" in output


def test_flags_of_a_pull_are_named_and_its_records_listed() -> None:
    folder = WIRE / "4.6.0-json"
    pull = run((folder / "pull_message.request.bin").read_bytes().hex()).output
    assert "'sysFlag' = '2'  # Integer, required (SUSPEND)\n" in pull
    response = run(str(folder / "pull_message.answer-0.bin")).output
    assert response.count("    record at ") == 32
    assert "'nextBeginOffset' = '32'  # Long\n" in response


def test_bits_of_the_system_flags_are_named() -> None:
    record = WIRE / "5.3.3-edges" / "lz4.record"
    output = run(record.read_bytes().hex()).output
    assert "(COMPRESSED | 0x100)" in output
    assert "body: compressed, LZ4\n" in output


def test_there_are_colours_on_a_terminal_and_none_in_a_pipe(log: Path) -> None:
    plain = CliRunner().invoke(inspect, [str(log)]).output
    shown = CliRunner().invoke(inspect, [str(log)], color=True).output
    assert "\x1b[" not in plain
    assert "\x1b[" in shown
    assert click.unstyle(shown) == plain


PARTS = Path(__file__).parents[4] / "fixtures" / "parts"


def test_files_that_only_their_path_tells_are_read_by_it() -> None:
    path = PARTS / "4.9.7" / "consumequeue_ext" / "PartsTopic" / "0" / f"{0:020}"
    output = run(str(path), "--count", "2").output
    assert output.count("consume queue extension unit, ") == 2
    assert "filter_bits" in output


def test_any_layout_can_be_demanded() -> None:
    body = (WIRE / "4.6.0-edges" / "batch.body").read_bytes().hex()
    output = run(body, "--as", "batch message").output
    assert output.startswith("batch message, ")
    assert "'first'" in output


def test_a_misspelt_layout_gets_a_suggestion() -> None:
    result = run("00", "--as", "consume queue uni")
    assert result.exit_code == 2
    assert "unknown layout consume queue uni; did you mean consume queue unit" in (
        result.output
    )


def test_a_release_that_is_none_is_one_clear_line(log: Path) -> None:
    result = run(str(log), "--release", "new")
    assert result.exit_code == 2
    assert result.output == "Error: --release: 'new' is not a release such as 4.6.0\n"


def test_a_full_explanation_leaves_nothing_out() -> None:
    body = (
        b'{"queueDatas":[{"brokerName":"broker-a","perm":6}],"note":"%s","map":{0:1}}'
    )
    body %= b"x" * 500
    frame = encode_command(Command(code=0, opaque=1, flag=1, body=body))
    short = run(frame.hex()).output
    full = run("--full", frame.hex()).output
    assert "    …     " in short
    assert "…" not in full
    assert '    body: JSON\n    {\n      "queueDatas": [\n' in full
    assert '      "map": {\n        "0": 1\n' in full
    unwrapped = "".join(full.split())
    assert "x" * 500 in unwrapped


def test_a_capture_is_printed_frame_by_frame(tmp_path: Path) -> None:
    request = encode_command(Command(code=105, opaque=7, fields={"topic": "T"}))
    response = encode_command(Command(code=17, opaque=7, flag=1, language="JAVA"))
    for name, peer in (("v4", "127.0.0.1:9876"), ("v6", "[::1]:9876")):
        transcript = Transcript(peer, opened_at_ms=1_573_000_000_000)
        for at_ms, direction, data in (
            (1, Direction.SENT, request[:9]),
            (2, Direction.SENT, request[9:]),
            (5, Direction.RECEIVED, response + b"\0\0"),
        ):
            transcript.add(Entry(direction=direction, at_ms=at_ms, data=data))
        path = tmp_path / f"{name}.pcapng"
        path.write_bytes(capture_of([transcript], "CLIENT-PUBLISH-002 is not met"))
        result = run(str(path))
        assert result.exit_code == 0
        comment, _, ends, *lines = result.output.splitlines()
        assert comment == "CLIENT-PUBLISH-002 is not met"
        assert ends.endswith(f"50000 -> {peer}")
        assert "-> request 105 GET_ROUTEINFO_BY_TOPIC opaque=7 topic='T'" in lines[0]
        assert "<- response 17 TOPIC_NOT_EXIST opaque=7" in lines[1]
        assert lines[2].endswith(f"2 bytes of {peer} are not a whole frame")


def test_a_capture_of_another_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.pcapng"
    path.write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(8) + b"\x4d\x3c\x2b\x1a")
    result = run(str(path))
    assert result.exit_code == 2
    assert "not a capture of rmqc" in result.output
