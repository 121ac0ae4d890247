"""The receive window of a loopback connection is clamped; others are unchanged."""

from __future__ import annotations

import asyncio
import socket

import pytest

from reference.shell.loop_host import LARGE_READ, LoopbackWindow

_HAS_CLAMP = pytest.mark.skipif(
    not hasattr(socket, "TCP_WINDOW_CLAMP"), reason="only Linux has TCP_WINDOW_CLAMP"
)


class OptionRecorder:
    """A transport, and its socket, that records the options set on it."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.options: list[tuple[int, int, int]] = []

    def get_extra_info(self, name: str) -> OptionRecorder | None:
        """Return the socket."""
        return self if name == "socket" else None

    def getpeername(self) -> tuple[str, int]:
        """Return the address of the peer."""
        return self.peer, 4711

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """Record an option."""
        self.options.append((level, option, value))


@_HAS_CLAMP
@pytest.mark.parametrize(
    ("peer", "is_local"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("10.0.0.1", False)],
)
def test_only_a_loopback_connection_gets_a_clamp(peer: str, is_local: bool) -> None:
    transport = OptionRecorder(peer)
    window = LoopbackWindow(transport)  # type: ignore[arg-type] # has all that is used
    assert transport.options == []
    window.clamp()
    assert bool(transport.options) is is_local


@_HAS_CLAMP
def test_the_clamp_of_a_real_connection_is_256_kib() -> None:
    clamps = asyncio.run(_clamps_after_a_large_read())
    assert clamps == [256 * 1024]


async def _clamps_after_a_large_read() -> list[int]:
    clamps: list[int] = []
    is_read = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        window = LoopbackWindow(writer.transport)
        await reader.readexactly(LARGE_READ)
        window.clamp()
        link = writer.get_extra_info("socket")
        clamps.append(link.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP))
        writer.close()
        is_read.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(bytes(LARGE_READ))
        await asyncio.wait_for(is_read.wait(), timeout=30)
        writer.close()
    return clamps
