"""Accept a slave, and receive: silence or a close is the target's fault."""

from __future__ import annotations

import socket

from conformance.harness.client.peer_errors import ClosedError, NoResponseError
from conformance.harness.client.transcript import Transcript


def accept(server: socket.socket, timeout_s: float) -> socket.socket:
    """Return the next connection of a slave; NoResponseError without one in time."""
    server.settimeout(timeout_s)
    try:
        connection, _ = server.accept()
    except TimeoutError:
        reason = f"waited {timeout_s:g} s for a slave to connect, none did"
        raise NoResponseError(reason, _transcript(server)) from None
    return connection


def receive(link: socket.socket, what: str, timeout_s: float) -> bytes:
    """Return the next bytes on *link*.

    Raises NoResponseError without any in time, and ClosedError after the last.
    """
    link.settimeout(max(timeout_s, 0.001))
    try:
        received = link.recv(65_536)
    except TimeoutError:
        raise NoResponseError(
            f"{what} did not come in time", _transcript(link)
        ) from None
    except OSError as error:
        reason = f"{what} did not come: {error}"
        raise ClosedError(reason, _transcript(link)) from None
    if not received:
        reason = f"the peer closed the connection before {what}"
        raise ClosedError(reason, _transcript(link))
    return received


def _transcript(link: socket.socket) -> Transcript:
    return Transcript("{}:{}".format(*link.getsockname()[:2]))
