"""
Server that responds to every request by a function.

Tests of the harness give it one known fault. The suite `routing` makes name servers of
it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Self

from conformance.harness.client.address import Address
from conformance.harness.process.context import Closing
from spec.layout import LayoutError
from spec.wire.remoting.command import Command, decode_command, encode_command

Lie = Callable[[Command], bytes | None]
"""Makes the bytes of a response; None stays silent, empty bytes close."""


class LyingServer(Closing):
    """Accepts connections, each in a thread of its own, until it is left."""

    def __init__(self, lie: Lie, *, port: int = 0) -> None:
        self._lie = lie
        self._listener = socket.create_server(("127.0.0.1", port))
        self.address = Address(*self._listener.getsockname()[:2])
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop, and wait for the thread."""
        self.stop()
        self._thread.join(5.0)

    def stop(self) -> None:
        """Accept no connection from now on; stopping twice is harmless."""
        with contextlib.suppress(OSError):
            # shutdown, unlike close, wakes a thread that waits in accept.
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with (
            # Bytes that are no frame are those of a client that tries TLS.
            contextlib.suppress(ConnectionError, LayoutError),
            connection,
            connection.makefile("rb") as arriving,
        ):
            while len(head := arriving.read(4)) == 4:
                command = decode_command(head + arriving.read(int.from_bytes(head)))
                response = self._lie(command)
                if response == b"":
                    return
                if response is not None:
                    connection.sendall(response)


def honest(request: Command, **changes: object) -> bytes:
    """Return a success, with *changes* to the response that would be right."""
    values: dict[str, object] = {"code": 0, "opaque": request.opaque, "flag": 1}
    return encode_command(Command(**{**values, **changes}))  # type: ignore[arg-type] # by name
