"""The client of the name server measurement counts answers, and nothing else."""

from __future__ import annotations

import socket

import pytest

from bench.measurements.namesrv import Size
from bench.processes import namesrv_client
from bench.processes.namesrv_client import BadResponseError, RouteConnection, topic_name
from spec.wire.remoting.command import Command, decode_command, encode_command


def response(opaque: int, code: int = 0) -> bytes:
    return encode_command(Command(code=code, opaque=opaque, flag=1, body=b"{}"))


def test_answers_are_counted_however_they_are_cut() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = RouteConnection(ours, [b"first", b"second"], iter((1, 0)))
        connection.send(2)
        assert theirs.recv(100) == b"secondfirst"
        data = response(1) + response(0)
        theirs.sendall(data[:-3])
        assert connection.take() == 1
        theirs.sendall(data[-3:])
        assert connection.take() == 1
        assert len(connection.times_s) == 2


def test_a_refusal_is_no_answer() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = RouteConnection(ours, [b"one"], iter((0,)))
        theirs.sendall(response(0, code=17))
        with pytest.raises(BadResponseError, match='"code":17'):
            connection.take()


def test_a_closed_connection_is_said() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        theirs.close()
        with pytest.raises(BadResponseError, match="closed"):
            RouteConnection(ours, [], iter(())).take()


def test_a_request_asks_for_the_topic_of_its_number() -> None:
    request = decode_command(namesrv_client._request(7))
    assert request.opaque == 7
    assert request.fields == {"topic": topic_name(7)}
    assert Size().topics == 10_000
