"""Artifacts of a failing test: a tree of the frame, a capture, test vectors."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import jsonschema
import pytest

from conformance.harness.client.conversations import CONVERSATIONS, Conversations
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.peer import Peer
from conformance.harness.client.peer_errors import ClosedError
from conformance.harness.client.transcript import (
    Direction,
    Entry,
    Transcript,
    frames_of,
)
from conformance.harness.failure.artifacts import file_name
from conformance.harness.failure.capture import capture_of
from conformance.harness.failure.counterexample import counterexample
from conformance.harness.failure.examples import notes_of
from conformance.harness.failure.frame_tree import frame_tree, own_frame_tree
from conformance.harness.report.report import read_report
from conformance.harness.targets.started.embedded import SOURCES
from conformance.meta.made_suite import run_faulty
from conformance.meta.reports.goldens import QUESTION, answered
from spec.wire.remoting.command import Command, decode_command, encode_command

REQUEST = encode_command(QUESTION)
PACKET = 6


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and body of each block of a pcapng file, its two sizes compared."""
    while data:
        kind, size = struct.unpack(">II", data[:8])
        assert data[size - 4 : size] == data[4:8]
        yield kind, data[8 : size - 4]
        data = data[size:]


def transcript_of(*pieces: bytes, peer: str = "127.0.0.1:10911") -> Transcript:
    """Return a transcript in which the suite sends *pieces*."""
    local = "[::1]:40000" if "[" in peer else "127.0.0.1:40000"
    made = Transcript(peer, local=local, opened_at_ms=1_573_000_000_000)
    for at_ms, data in enumerate(pieces):
        made.add(Entry(direction=Direction.SENT, at_ms=at_ms, data=data))
    return made


@pytest.mark.parametrize("serialize_type", [0, 1])
def test_each_member_of_a_header_has_its_bytes(serialize_type: int) -> None:
    command = Command(
        17, opaque=-3, flag=1, remark="gone", serialize_type=serialize_type
    )
    lines = frame_tree(encode_command(command), ["opaque"]).splitlines()
    (wrong,) = [line for line in lines if "✗" in line]
    assert wrong.split()[-2:] == ["opaque", "-3"]
    assert any("17 TOPIC_NOT_EXIST" in line for line in lines)
    assert any("1 (RESPONSE)" in line for line in lines)
    assert any(line.strip().startswith("^^") for line in lines)


def test_a_member_of_a_json_body_is_marked() -> None:
    body = b'{"data":{"queue":[1,2],"perm":4}}'
    tree = frame_tree(encode_command(Command(0, flag=1, body=body)), ["perm"])
    (wrong,) = [line for line in tree.splitlines() if "✗" in line]
    assert wrong.split()[-2:] == ["data.perm", "4"]


@pytest.mark.parametrize(
    "data", [b"\x00", b"\xff" * 9, REQUEST[:30], b"\0\0\0\4\0\0\0\0"]
)
def test_what_is_no_frame_is_shown_all_the_same(data: bytes) -> None:
    assert data[:1].hex() in frame_tree(data, ["code"])


def test_own_bytes_that_are_no_frame_are_not_marked_as_wrong() -> None:
    frame = b"\0\xff\xff\xfd" + bytes(64)
    (_, *sent) = own_frame_tree(frame).splitlines()
    assert "(60 of 16777209 bytes)" in "".join(sent)
    assert "✗" in frame_tree(frame)
    assert "✗" not in "".join(sent)


EXAMPLE = """Failing test case: test_x(
    server=Server(name='broker',
     peer=<a.Peer object at 0x7f>),
    field=(<RequestCode.GET_MAX_OFFSET: 30>,
     'queueId'),  # or any other generated value
    kind=True,
)"""


def test_an_example_has_no_fixtures_and_no_executed_lines() -> None:
    error = AssertionError()
    lines = ("Explanation:", "    These lines", "        a.py:1", "b")
    for note in (EXAMPLE, *lines):
        error.add_note(note)
    item = mock.Mock(fixturenames=["server", "kind"])
    item.callspec.params = {"kind": True}
    example, other = notes_of(error, item)
    assert other == "b"
    assert example == (
        "Failing test case: test_x(\n"
        "    field=(30 GET_MAX_OFFSET,\n"
        "     'queueId'),  # or any other generated value\n"
        "    kind=True,\n)"
    )


@pytest.mark.parametrize("peer", ["127.0.0.1:10911", "[::1]:10911", "broker:10911"])
def test_a_capture_holds_what_was_said_with_its_times(peer: str) -> None:
    found = list(blocks(capture_of([transcript_of(REQUEST, peer=peer)], "one comment")))
    assert b"one comment" in found[0][1]
    packets = [body for kind, body in found if kind == PACKET]
    assert len(packets) == 4  # three to shake hands
    high, low = struct.unpack(">II", packets[-1][4:12])
    assert (high << 32) + low == 1_573_000_000_000
    assert REQUEST in packets[-1]


def test_the_frames_of_a_client_go_to_the_server_that_the_suite_plays() -> None:
    transcript = Transcript("the client at port 5", is_server=True)
    for direction in (Direction.RECEIVED, Direction.SENT):
        transcript.add(Entry(direction=direction, at_ms=1, data=REQUEST))
    packets = [
        body for kind, body in blocks(capture_of([transcript])) if kind == PACKET
    ]
    ip_at = 20
    ports = [struct.unpack(">HH", one[ip_at + 20 : ip_at + 24]) for one in packets[-2:]]
    assert [target for _, target in ports] == [10_911, 50_000]


def test_a_counterexample_is_a_file_of_test_vectors() -> None:
    cut = [REQUEST[:9], REQUEST[9:], b"\xff" * 8]
    text = counterexample(
        [transcript_of(*cut)],
        clauses=["WIRE-FRAME-002"],
        example="size=256",
        test="test_x",
    )
    assert text is not None
    made = json.loads(text)
    schema = SOURCES / "fixtures" / "vectors" / "schema.json"
    jsonschema.validate(made, json.loads(schema.read_text(encoding="utf-8")))
    whole, broken = made["testGroups"][0]["tests"]
    assert decode_command(bytes.fromhex(whole["bytes"])) == QUESTION
    assert whole["values"]["fields"] == QUESTION.fields
    assert (broken["result"], broken["bytes"]) == ("invalid", "ff" * 8)
    assert made["notes"]["Counterexample"]["clauses"] == ["WIRE-FRAME-002"]
    assert "size=256" in made["header"][0]


def test_without_a_frame_there_are_no_vectors() -> None:
    assert counterexample([], clauses=[], example="", test="test_x") is None
    assert list(frames_of(b"")) == []


def test_only_what_the_last_example_said_is_told() -> None:
    conversations = Conversations()
    transcript = answered()
    conversations.add(transcript)
    conversations.begin()
    assert conversations.transcripts() == []
    transcript.add(Entry(direction=Direction.NOTE, at_ms=9, note="closed"))
    assert [one.note for one in conversations.transcripts()[0]] == ["closed"]
    assert conversations.latest() is not None


def test_the_next_example_gets_a_new_connection() -> None:
    closing = Command(99)
    with (
        LyingServer(lambda asked: b"" if asked.code == 99 else honest(asked)) as server,
        Peer(server.address) as peer,
    ):
        for _ in range(2):
            CONVERSATIONS.begin()
            assert peer.request(QUESTION).code == 0
            with pytest.raises(ClosedError):
                peer.request(closing)
        assert "connected anew" in peer.transcript.render()


def test_names_of_files_are_plain_and_tell_tests_apart() -> None:
    names = {
        file_name(f"conformance/wire/test_frame.py::test_x[{part}]")
        for part in ("a/b", "a b", "ü", "x" * 300)
    }
    assert len(names) == 4
    assert all(len(name) < 120 and "/" not in name for name in names)
    assert file_name("a/test_frame.py::test_x") == "test_frame.test_x"


TESTS = """
@pytest.mark.clause("WIRE-FRAME-002")
@settings(suppress_health_check=list(HealthCheck))
@given(size=st.integers(0, 2**16))
def test_sizes(broker, size):
    answer = broker.max_offset(topic="T" * size)
    expect("WIRE-FRAME-002", found=size % 256, expected=size, what="opaque",
        transcript=broker.transcript)

@pytest.mark.clause("WIRE-FRAME-001")
def test_refused(broker):
    require_success(replace(broker.max_offset(topic="T"), code=1))
"""


def test_a_failing_test_leaves_a_capture_and_test_vectors(tmp_path: Path) -> None:
    report = tmp_path / "report"
    ended = run_faulty(tmp_path, TESTS, f"--report={report}", "-n1")
    failure = read_report(report / "report.json").results[1].failure
    assert failure is not None
    assert failure.vector is not None
    assert failure.capture is not None
    made = json.loads((report / failure.vector).read_text(encoding="utf-8"))
    (vector,) = made["testGroups"][0]["tests"]
    assert vector["values"]["fields"]["topic"] == "T" * 256
    for text in (made["header"][0], failure.text):
        assert "object at 0x" not in text
    packets = [
        body
        for kind, body in blocks((report / failure.capture).read_bytes())
        if kind == PACKET and bytes.fromhex(vector["bytes"]) in body
    ]
    assert len(packets) == 1, "only what the smallest example said"
    for part in ("what was sent, ", "what came back, ", "size=256", str(report)):
        assert part in failure.text, part
    assert (failure.again or "").startswith("rmqc test --target '127.0.0.1:")
    assert "got       refused with code 1" in ended.output
