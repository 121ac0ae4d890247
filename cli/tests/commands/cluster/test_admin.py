"""``rmqc admin queryMsgById``: offset ids of messages, of no message, and no ids."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from conformance.harness.client.lying_server import LyingServer, honest
from spec.host import Host
from spec.store.message_record import Record, encode_record
from spec.wire.message.message_id import encode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

OFFSET = 162
RECORD = Record(topic="T", queue_id=0, queue_offset=0, physical_offset=OFFSET)


def query(response: Callable[[Command], bytes], offset: int = OFFSET) -> Result:
    """Query the message at *offset* of a broker that responds with *response*."""
    with LyingServer(response) as server:
        message_id = encode_message_id(Host.of(*server.address), offset)
        words = ["admin", "queryMsgById", "-i", message_id]
        return CliRunner().invoke(main, words)


def body(data: bytes) -> Callable[[Command], bytes]:
    """Return the function that responds with *data*, and with no group that reads."""

    def response(request: Command) -> bytes:
        is_view = request.code == RequestCode.VIEW_MESSAGE_BY_ID
        return honest(request, body=data if is_view else b"{}")

    return response


def test_the_message_of_an_offset_id_is_shown() -> None:
    shown = query(body(encode_record(RECORD)))
    assert shown.exit_code == 0, shown.output
    assert f"CommitLog Offset:    {OFFSET}\n" in shown.output


@pytest.mark.parametrize("data", [b"", b"\0\0\0\1", bytes(200), encode_record(RECORD)])
def test_an_offset_between_two_records_has_no_message(data: bytes) -> None:
    shown = query(body(data), OFFSET - 1)
    assert shown.exit_code == 1
    reason = f"no record begins at offset {OFFSET - 1}"
    assert shown.output == f"the message does not exist: {reason}\n"


def test_an_offset_outside_the_log_has_no_message() -> None:
    shown = query(
        lambda asked: honest(asked, code=ResponseCode.SYSTEM_ERROR, remark="not found")
    )
    assert (shown.exit_code, shown.output) == (
        1,
        "the message does not exist: not found\n",
    )


def test_a_record_with_a_wrong_checksum_is_an_unreadable_response() -> None:
    data = bytearray(encode_record(RECORD))
    data[8] ^= 1
    shown = query(body(bytes(data)))
    assert shown.exit_code == 3
    assert shown.output.startswith("Error: unreadable response of 127.0.0.1:")


def test_another_error_response_is_no_verdict() -> None:
    shown = query(lambda asked: honest(asked, code=ResponseCode.NO_PERMISSION))
    assert shown.exit_code == 3


def test_a_text_that_is_not_an_offset_id_is_usage() -> None:
    shown = CliRunner().invoke(main, ["admin", "queryMsgById", "-i", "7F00"])
    assert shown.exit_code == 2


def test_a_setting_of_a_broker_is_changed() -> None:
    bodies: list[bytes] = []

    def response(request: Command) -> bytes:
        if request.code == RequestCode.UPDATE_BROKER_CONFIG:
            bodies.append(request.body)
        return honest(request)

    with LyingServer(response) as server:
        words = ["-b", str(server.address), "-k", "faults", "-v", "busy:50%"]
        shown = CliRunner().invoke(main, ["admin", "updateBrokerConfig", *words])
        assert shown.output == f"update broker config success, {server.address}\n"
    assert bodies == [b"faults=busy:50%\n"]


def test_a_refused_setting_is_no_success() -> None:
    def response(request: Command) -> bytes:
        code = ResponseCode.SYSTEM_ERROR
        return honest(request, code=code, remark="no such fault")

    with LyingServer(response) as server:
        words = ["-b", str(server.address), "-k", "faults", "-v", "bussy"]
        shown = CliRunner().invoke(main, ["admin", "updateBrokerConfig", *words])
    assert shown.exit_code == 3
    assert "no such fault" in shown.output


def test_the_settings_of_a_broker_are_listed() -> None:
    with LyingServer(lambda request: honest(request, body=b"b=2\na=1\n")) as server:
        words = ["admin", "getBrokerConfig", "-b", str(server.address)]
        shown = CliRunner().invoke(main, words)
        first, *lines = shown.output.splitlines()
        assert first == f"============{server.address}============"
    assert [line.split() for line in lines] == [["a", "=", "1"], ["b", "=", "2"]]
