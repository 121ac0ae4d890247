"""The harness client detects the faults of a server, and silence of a replica."""

from __future__ import annotations

import socket
from contextlib import closing
from dataclasses import replace

import pytest

from conformance.harness.client.client import Client, RefusedError, require_success
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.peer import Peer
from conformance.harness.client.peer_errors import (
    ClosedError,
    NoResponseError,
    PeerError,
    SecondResponseError,
    UnreadableResponseError,
    WrongOpaqueError,
)
from conformance.harness.client.replication_link import accept, receive
from conformance.harness.client.tamper import set_length
from conformance.harness.process.deadline import TooLateError
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode

QUESTION = Command(code=RequestCode.GET_BROKER_CLUSTER_INFO)


def test_an_honest_answer_is_matched_by_its_opaque() -> None:
    with LyingServer(honest) as server, Peer(server.address) as peer:
        first, second = peer.send(QUESTION), peer.send(QUESTION)
        assert peer.receive_response(second.opaque).opaque == second.opaque
        assert peer.receive_response(first.opaque).opaque == first.opaque


def test_an_answer_with_an_opaque_of_no_request_is_detected_immediately() -> None:
    with (
        LyingServer(lambda sent: honest(sent, opaque=sent.opaque + 1)) as server,
        Peer(server.address) as peer,
        pytest.raises(WrongOpaqueError, match=r"has opaque 8, its request has 7"),
    ):
        peer.request(replace(QUESTION, opaque=7), timeout_s=60)


def test_a_second_response_is_detected_beside_the_next_one() -> None:
    def twice(sent: Command) -> bytes:
        return honest(sent) * 2

    with LyingServer(twice) as server, Peer(server.address) as peer:
        first = peer.request(QUESTION)
        with pytest.raises(SecondResponseError, match=str(first.opaque)):
            peer.request(QUESTION)


def test_a_request_sent_twice_has_two_responses() -> None:
    with LyingServer(honest) as server, Peer(server.address) as peer:
        sent = [peer.send(replace(QUESTION, opaque=7)) for _ in range(2)]
        for one in sent:
            assert peer.receive_response(one.opaque).opaque == 7


def test_a_max_offset_that_is_not_reached_is_in_the_error() -> None:
    with (
        LyingServer(lambda sent: honest(sent, fields={"offset": "2"})) as server,
        Client.connect(server.address) as client,
        pytest.raises(TooLateError) as raised,
    ):
        client.wait_for_max_offset(topic="T", offset=3, queue_id=1, timeout_s=0.1)
    assert raised.value.what == "max offset 3 of queue 1 of T"
    assert raised.value.found == "max offset 2 after 0.1 s"


def test_after_bytes_of_our_own_any_opaque_may_be_right() -> None:
    with (
        LyingServer(lambda sent: honest(sent, opaque=sent.opaque + 1)) as server,
        Peer(server.address) as peer,
    ):
        peer.send_bytes(encode_command(replace(QUESTION, opaque=7)))
        with pytest.raises(NoResponseError, match="waited for a response with opaque"):
            peer.receive_response(7, timeout_s=0.2)


def test_a_close_is_told_apart_from_silence() -> None:
    with LyingServer(lambda _: b"") as server, Peer(server.address) as peer:
        with pytest.raises(ClosedError, match="closed"):
            peer.request(QUESTION)
        assert peer.received_close()


def test_silence_is_not_a_close() -> None:
    with LyingServer(lambda _: None) as server, Peer(server.address) as peer:
        peer.send(QUESTION)
        assert peer.is_silent(0.1)
        wanted = (
            r"a request with code 39 CHECK_TRANSACTION_STATE, none came within 0\.1 s"
        )
        with pytest.raises(NoResponseError, match=wanted):
            peer.receive_request(39, timeout_s=0.1)
        assert not peer.received_close(timeout_s=0.1)


@pytest.mark.parametrize("length", [-1, 0, 3, 2**31 - 1])
def test_a_length_is_not_believed(length: int) -> None:
    with (
        LyingServer(lambda sent: set_length(honest(sent), length)) as server,
        Peer(server.address) as peer,
        pytest.raises(
            UnreadableResponseError,
            match=f"is not a frame: .*({length} is less|{length + 4} bytes are more)",
        ),
    ):
        peer.request(QUESTION)


def test_half_a_frame_says_how_much_came() -> None:
    with (
        LyingServer(lambda sent: honest(sent)[:7]) as server,
        Peer(server.address) as peer,
        pytest.raises(NoResponseError, match="7 bytes of it did"),
    ):
        peer.request(QUESTION, timeout_s=0.2)


def test_a_request_of_the_server_is_kept_for_who_asks() -> None:
    def notify_first(sent: Command) -> bytes:
        return honest(sent, code=40, opaque=7, flag=2) + honest(sent)

    with LyingServer(notify_first) as server, Peer(server.address) as peer:
        peer.request(QUESTION)
        assert peer.receive_request(40).opaque == 7


def test_a_kept_request_does_not_delay_the_reading_of_what_waits() -> None:
    def notify_first(sent: Command) -> bytes:
        return honest(sent, code=40, opaque=7, flag=2) + honest(sent)

    with LyingServer(notify_first) as server, Peer(server.address) as peer:
        peer.request(QUESTION)
        peer.receive_waiting()
        peer.receive_waiting()
        assert peer.receive_request(40).opaque == 7


def test_nobody_there_is_no_verdict() -> None:
    with LyingServer(honest) as server:
        gone = server.address
    with pytest.raises(PeerError, match="cannot connect"):
        Peer(gone)


def test_a_refusal_is_not_a_success() -> None:
    def refuse(sent: Command) -> bytes:
        return honest(sent, code=17, remark="no such topic")

    with LyingServer(refuse) as server, Client.connect(server.address) as client:
        assert client.route("nowhere").code == 17
        with pytest.raises(RefusedError, match="no such topic"):
            require_success(client.route("nowhere"))


def test_a_transcript_tells_the_conversation() -> None:
    with LyingServer(honest) as server, Client.connect(server.address) as client:
        client.max_offset(topic="T", queue_id=3)
        text = client.transcript.render()
    assert "-> request 30 GET_MAX_OFFSET" in text
    assert "queueId='3'" in text
    assert "<- response 0 SUCCESS" in text


def test_a_slave_that_does_not_connect_is_no_error_of_the_suite() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(NoResponseError, match=r"waited 0\.05 s for a slave to connect"),
    ):
        accept(server, 0.05)


def test_silence_and_a_close_name_the_missing_part() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        slave = socket.create_connection(server.getsockname())
        with closing(accept(server, 5.0)) as link:
            with pytest.raises(NoResponseError, match="its report did not come"):
                receive(link, "its report", 0.05)
            slave.close()
            with pytest.raises(ClosedError, match="before its report"):
                receive(link, "its report", 5.0)
