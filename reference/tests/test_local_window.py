"""A connection from this machine has a window that stays open; others are let be."""

from __future__ import annotations

import asyncio
import socket

import pytest

from reference.shell.local_window import MUCH, LocalWindow

_TOLD = pytest.mark.skipif(
    not hasattr(socket, "TCP_WINDOW_CLAMP"), reason="this system cannot be told"
)


class Told:
    """A transport with a socket that notes what it is told."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.options: list[tuple[int, int, int]] = []

    def get_extra_info(self, name: str) -> Told | None:
        """Return the socket."""
        return self if name == "socket" else None

    def getpeername(self) -> tuple[str, int]:
        """Return where the peer is."""
        return self.peer, 4711

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """Note an option."""
        self.options.append((level, option, value))


@_TOLD
@pytest.mark.parametrize(
    ("peer", "is_local"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("10.0.0.1", False)],
)
def test_only_a_peer_on_this_machine_gets_a_fixed_window(
    peer: str, is_local: bool
) -> None:
    transport = Told(peer)
    window = LocalWindow(transport)  # type: ignore[arg-type] # all that it asks for
    assert transport.options == []
    window.keep_open()
    assert bool(transport.options) is is_local


@_TOLD
def test_the_window_of_a_real_connection_is_what_it_was_told() -> None:
    clamps = asyncio.run(_clamps_after_a_large_read())
    assert clamps == [256 * 1024]


async def _clamps_after_a_large_read() -> list[int]:
    clamps: list[int] = []
    is_read = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        window = LocalWindow(writer.transport)
        await reader.readexactly(MUCH)
        window.keep_open()
        link = writer.get_extra_info("socket")
        clamps.append(link.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP))
        writer.close()
        is_read.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(bytes(MUCH))
        await asyncio.wait_for(is_read.wait(), timeout=30)
        writer.close()
    return clamps
