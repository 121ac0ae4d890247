"""
Proxy: listens beside a server, at another loopback address and the same port.

The target announces the proxy's address as its own, so neither routes nor message ids
need a change. The proxy connects to the target from the port of the suite's connection
at a third loopback address. Responses have the suite's address in its place.
"""

from __future__ import annotations

import contextlib
import socket
import threading

from conformance.harness.client.address import Address
from conformance.harness.process.context import Closing
from conformance.mutating_proxy.connection import Connection

PROXY_HOST = "127.0.0.2"
"""Host of the proxy, which the broker announces (brokerIP1)."""
_SUITE, _SOURCE = "127.0.0.1", "127.0.0.3"
_EXCHANGES = (
    (socket.inet_aton(_SOURCE), socket.inet_aton(_SUITE)),
    (_SOURCE.encode(), _SUITE.encode()),
)
"""Born hosts of records, and addresses of clients in texts."""


class Proxy(Closing):
    """Listens at `PROXY_HOST`, at the port of *server*."""

    def __init__(self, server: Address, *, is_restarted: bool = False) -> None:
        self._server, self._is_restarted = server, is_restarted
        self.address = Address(PROXY_HOST, server.port)
        self._connections: list[Connection] = []
        self._listener = socket.create_server(self.address)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening and close every connection."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in list(self._connections):
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                suite, (_, port) = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(
                target=self._serve, args=(suite, port), daemon=True
            ).start()

    def _serve(self, suite: socket.socket, port: int) -> None:
        try:
            target = _connected(self._server, port)
        except OSError:  # the target is gone
            suite.close()
            return
        for one in (suite, target):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made = Connection(
            suite,
            target,
            exchange=_with_suite_address,
            siblings=lambda: list(self._connections),
            is_restarted=self._is_restarted,
        )
        self._connections.append(made)
        made.run()
        self._connections.remove(made)


def _connected(server: Address, port: int) -> socket.socket:
    """Return a connection to *server* from *port*, or from any where it is in use."""
    try:
        return socket.create_connection(server, source_address=(_SOURCE, port))
    except OSError:
        return socket.create_connection(server, source_address=(_SOURCE, 0))


def _with_suite_address(frame: bytes) -> bytes:
    for old, new in _EXCHANGES:
        frame = frame.replace(old, new)
    return frame
