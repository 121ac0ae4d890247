"""Wireshark opens the capture of a failing test, and our dissector decodes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.client.transcript import Direction, Entry, Transcript
from conformance.harness.failure.capture import capture_of
from conformance.interop.tools.tshark import NoTsharkError, Tshark
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode

OPENED_AT_MS = 1_573_000_000_123
SENT = Command(RequestCode.GET_MAX_OFFSET, opaque=7, fields={"topic": "T" * 70_000})
ANSWERED = Command(0, opaque=7, flag=1, fields={"offset": "3"})


@pytest.fixture(scope="module")
def tshark(tmp_path_factory: pytest.TempPathFactory) -> Tshark:
    """Return tshark; every test fails without it."""
    try:
        return Tshark.with_exported_script(tmp_path_factory.mktemp("dissector"))
    except NoTsharkError as error:
        pytest.fail(str(error), pytrace=False)


def conversation(peer: str, local: str) -> Transcript:
    """Return a question of several segments, its response, and a close."""
    shown_text = Transcript(peer, local=local, opened_at_ms=OPENED_AT_MS)
    question, response = encode_command(SENT), encode_command(ANSWERED)
    for at_ms, direction, data, note in (
        (1, Direction.SENT, question[:9], ""),
        (2, Direction.SENT, question[9:], ""),
        (5, Direction.RECEIVED, response, ""),
        (6, Direction.NOTE, b"", "the peer closed the connection"),
        (7, Direction.SENT, question, ""),
    ):
        shown_text.add(Entry(direction=direction, at_ms=at_ms, data=data, note=note))
    return shown_text


def test_a_failing_test_s_capture_is_decoded(tshark: Tshark, tmp_path: Path) -> None:
    file = tmp_path / "failure.pcapng"
    four = conversation("127.0.0.1:10911", "127.0.0.1:50001")
    six = conversation("[::1]:9876", "[::1]:50002")
    file.write_bytes(capture_of([four, six], "WIRE-FRAME-002 is not met"))
    names = ("rocketmq.code.name", "rocketmq.opaque", "frame.time_epoch", "tcp.dstport")
    rows = tshark.rows(file, names, only="rocketmq.code")
    shown = [[row[name][0] for name in names[:2]] for row in rows]
    sent, answered = ["GET_MAX_OFFSET", "7"], ["SUCCESS", "7"]
    assert shown == [sent, sent, answered, answered, sent, sent]
    assert {row[names[3]][0] for row in rows} == {"10911", "9876", "50001", "50002"}
    assert [float(row[names[2]][0]) for row in rows[::2]] == [
        pytest.approx((OPENED_AT_MS + at_ms) / 1000) for at_ms in (2, 5, 7)
    ]
    wrong = "rocketmq.malformed || _ws.malformed || _ws.lua.error || tcp.analysis.flags"
    assert tshark.rows(file, ["frame.number"], only=wrong) == []


def test_a_capture_tells_what_failed(tshark: Tshark, tmp_path: Path) -> None:
    file = tmp_path / "failure.pcapng"
    shown_text = conversation("127.0.0.1:10911", "127.0.0.1:50001")
    file.write_bytes(capture_of([shown_text], "WIRE-FRAME-002 is not met"))
    rows = tshark.rows(file, ["frame.comment"], only="frame.comment")
    assert rows == [{"frame.comment": ["the peer closed the connection"]}]
    assert b"WIRE-FRAME-002 is not met" in file.read_bytes()
