"""Peers that do not read, or do not finish a frame, hold a bounded amount of memory."""

from __future__ import annotations

import asyncio
import contextlib
from typing import cast

import pytest

from reference.core.remoting.connection import Connection
from reference.core.remoting.effects import PauseReading, Send
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from reference.core.remoting.server import RESPONSES_SIZE_MAX, RemotingServer
from reference.shell.remoting_host import RemotingHost
from spec.host import Host
from spec.wire.remoting.command import Command, encode_command

PEER = Host.of("127.0.0.1", 40000)
BODY = bytes(200_000)
BEGUN = b"\x00\x10\x00\x00"
"""The size of a frame of a megabyte."""


class Echo(RemotingServer):
    """A server whose responses are large."""

    def __init__(self) -> None:
        super().__init__()
        self.handled: list[int] = []
        self.handlers = {1: self._respond}

    def _respond(self, request: Request) -> Response:
        self.handled.append(request.opaque)
        return Response(0, body=BODY)


class Transport:
    """A transport whose peer reads nothing until `drain`."""

    def __init__(self) -> None:
        self.size, self.is_reading, self.is_aborted = 0, True, False
        self.peer: tuple[str, int] | None = ("127.0.0.1", 40000)

    def set_write_buffer_limits(self, high: int) -> None:
        """Accept a limit."""
        assert high > 0

    def write(self, data: bytes) -> None:
        """Keep the size of the data."""
        self.size += len(data)

    def get_write_buffer_size(self) -> int:
        """Return the bytes that were written."""
        return self.size

    def get_extra_info(self, name: str) -> tuple[str, int] | None:
        """Return the peer's address."""
        assert name == "peername"
        return self.peer

    def pause_reading(self) -> None:
        """Read no more."""
        self.is_reading = False

    def resume_reading(self) -> None:
        """Read again; a closed transport of uvloop would raise here."""
        self.is_reading = True

    def is_closing(self) -> bool:
        """Return whether the connection was closed from this side."""
        return self.is_aborted

    def close(self) -> None:
        """Close the connection."""
        self.is_aborted = True

    def abort(self) -> None:
        """Close the connection without writing the rest."""
        self.is_aborted = True


def requests(count: int) -> bytes:
    """Return the frames of *count* requests."""
    commands = (Command(code=1, opaque=number) for number in range(count))
    return b"".join(map(encode_command, commands))


def test_requests_wait_until_the_responses_before_them_are_read() -> None:
    server = Echo()
    server.connection_made(1, PEER)
    effects = server.data_received(1, requests(20), 0)
    at_once = RESPONSES_SIZE_MAX // len(BODY) + 1
    assert server.handled == list(range(at_once))
    assert [type(effect) for effect in effects] == [Send, PauseReading]
    assert server.unfinished_size > 0
    while server.unfinished_size:
        server.data_received(1, b"", 0)
    server.data_received(1, b"", 0)
    assert server.handled == list(range(20))


def test_a_closed_connection_holds_nothing() -> None:
    server = Echo()
    server.connection_made(1, PEER)
    server.data_received(1, BEGUN + bytes(1000), 0)
    assert server.unfinished_size == 1004
    server.connection_lost(1, 0)
    assert server.unfinished_size == 0


def test_a_request_that_was_put_back_comes_first() -> None:
    connection = Connection(1, PEER)
    connection.receive(requests(2), 0)
    first = connection.next_request()
    assert first is not None
    connection.put_back(first)
    opaques = [one.opaque for one in iter(connection.next_request, None)]
    assert opaques == [0, 1]


def test_a_connection_that_closes_while_its_requests_wait_is_not_resumed() -> None:
    async def run() -> None:
        peer = Transport()
        server = Echo()
        host = host_of(server, 100_000_000, peer)
        (number,) = server.connections
        in_first_turn = RESPONSES_SIZE_MAX // len(BODY) + 1
        malformed = b"\x00\x00\x00\x04\x00\x00\x00\xff"
        host.data_received(number, requests(in_first_turn + 1) + malformed)
        assert not peer.is_reading
        await asyncio.sleep(0)
        assert len(server.handled) == in_first_turn + 1
        assert (peer.is_aborted, peer.is_reading) == (True, False)

    asyncio.run(run())


def host_of(server: RemotingServer, memory_max: int, *peers: Transport) -> RemotingHost:
    """Return a host with connections to *peers*, whose numbers are returned too."""
    host = RemotingHost(server, memory_max)
    for peer in peers:
        host.connection_made(cast(asyncio.Transport, peer))
    return host


def test_the_peer_with_the_most_unread_responses_is_closed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def run() -> None:
        small, large = Transport(), Transport()
        server = Echo()
        host = host_of(server, 5_000_000, small, large)
        first, second = server.connections
        host.data_received(first, requests(5))
        host.writing_paused(first)
        assert not small.is_reading
        host.data_received(second, requests(6))
        host.writing_paused(second)
        assert not large.is_aborted
        host.data_received(second, requests(6))
        assert (small.is_aborted, large.is_aborted) == (False, True)
        assert list(server.connections) == [first]
        small.size = 0
        host.writing_resumed(first)
        assert small.is_reading
        host.data_received(first, requests(1))
        assert small.size > len(BODY)

    asyncio.run(run())
    assert "unread responses and unfinished requests" in capsys.readouterr().err


def test_a_response_counts_until_its_last_byte_is_sent() -> None:
    async def run() -> None:
        slow, other = Transport(), Transport()
        server = Echo()
        host = host_of(server, 2_500_000, slow, other)
        first, second = server.connections
        host.data_received(first, requests(5))
        slow.size = 1
        host.data_received(second, requests(5))
        assert (slow.is_aborted, other.is_aborted) == (False, True)
        slow.size = 0
        host.data_received(first, requests(4))
        assert not slow.is_aborted

    asyncio.run(run())


def test_the_peer_with_the_largest_unfinished_frame_is_closed() -> None:
    async def run() -> None:
        small, large = Transport(), Transport()
        server = RemotingServer()
        host = host_of(server, 500_000, small, large)
        first, second = server.connections
        host.data_received(first, BEGUN + bytes(100_000))
        host.data_received(second, BEGUN + bytes(300_000))
        assert len(server.connections) == 2
        host.data_received(first, bytes(150_000))
        assert (small.is_aborted, large.is_aborted) == (False, True)
        assert server.unfinished_size == 250_004

    asyncio.run(run())


def test_others_are_served_beside_a_peer_that_does_not_read() -> None:
    """Over real sockets, with buffers of the system's sizes."""

    async def run() -> None:
        server = Echo()
        host = RemotingHost(server, 8_000_000)
        await host.listen("127.0.0.1", 0)
        (listener,) = host._listeners
        assert isinstance(listener, asyncio.Server)
        port = listener.sockets[0].getsockname()[1]
        stalled = [await asyncio.open_connection("127.0.0.1", port) for _ in range(9)]
        for _, writer in stalled:
            writer.write(requests(200))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(50):
            writer.write(requests(1))
            size = int.from_bytes(await reader.readexactly(4), "big")
            assert size > len(BODY)
            await reader.readexactly(size)
        held = map(host._memory.held_by, server.connections)
        assert sum(held) <= 8_000_000
        assert len(server.handled) < 9 * 200
        for _, one in (*stalled, (reader, writer)):
            one.close()
            with contextlib.suppress(ConnectionError):
                await one.wait_closed()
        await host.stop()

    asyncio.run(run())


def test_a_slave_that_reads_slowly_closes_no_client() -> None:
    async def run() -> None:
        client, slave = Transport(), Transport()
        server = RemotingServer()
        host = host_of(server, 500_000, client)
        number = host.add(cast(asyncio.Transport, slave))
        for _ in range(20):
            host.perform([Send(number, BODY)])
        assert slave.size == 20 * len(BODY)
        assert not client.is_aborted

    asyncio.run(run())


def test_a_peer_that_is_gone_before_its_number_is_forgotten() -> None:
    async def run() -> None:
        gone = Transport()
        gone.peer = None
        server = RemotingServer()
        host = host_of(server, 500_000, gone)
        assert gone.is_aborted
        assert not server.connections
        host.data_received(0, b"late")
        host.connection_lost(0)
        await host.stop()

    asyncio.run(run())
