"""Texts of failures name the cause: the frame that came, the message that was lost."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, RefusedError
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.peer import Peer
from conformance.harness.failure.failure import ConformanceFailure
from conformance.harness.pytest_plugin.verdicts.verdict import as_failure
from conformance.messaging.stored_messages import record_of
from conformance.wire.server import broker
from spec.host import Host
from spec.wire.message.message_id import encode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        (b"", "waited for a command, none came before the peer closed"),
        (honest(Command(code=30, opaque=7)), "response 0 SUCCESS opaque=7"),
        (bytes([0, 0, 0, 4, 0, 0, 0, 9]), "what came is no command"),
    ],
)
def test_a_command_that_breaks_a_silence_is_named(sent: bytes, found: str) -> None:
    with LyingServer(lambda _: sent) as server, Peer(server.address) as peer:
        peer.send(Command(code=30, opaque=7))
        with pytest.raises(ConformanceFailure) as raised:
            broker(peer, "T").expect_silence("WIRE-COMMAND-006")
    (finding,) = raised.value.findings
    assert finding.found_text.startswith(f"what came: {found}")
    assert finding.expected_text == "what came: nothing"


def test_a_lost_message_is_named() -> None:
    message_id = encode_message_id(Host(bytes(4), 10911), 4711)
    sent = Command(code=ResponseCode.SUCCESS, flag=1, fields={"msgId": message_id})
    with (
        LyingServer(lambda one: honest(one, code=1, remark="not found")) as server,
        Client.connect(server.address) as client,
        pytest.raises(RefusedError) as raised,
    ):
        record_of(client, sent)
    failure = as_failure(raised.value, ["QUERY-KEY-006"])
    assert failure is not None
    (finding,) = failure.findings
    assert finding.found_text == "refused with code 1: not found"
    assert finding.expected_text.endswith("because the send of this message succeeded")
