"""
Requests to a fork server, and a command that stands for one of its children.

Both sides of the protocol are in ``fork_server_program.py``. As a program, ``python
fork_request.py SOCKET WORD...``, this is for a parent that can only start a command. It
requests a child with its own streams, directory and environment, and ends with the
child's exit code. The child ends with it at the latest. The module imports little: each
worker of a run starts it once.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence

LENGTH_BYTES = 4
"""Size of the length before a request."""


def request_fork(
    address: str,
    arguments: Sequence[str],
    streams: Sequence[int],
    *,
    directory: str = "",
    own_group: bool = True,
) -> socket.socket:
    """Request a child, and return the connection for its process id and exit code.

    *streams* are the descriptors of its standard streams. It runs in *directory*, by
    default that of the fork server, and in a session of its own if *own_group*. Raises
    OSError if the fork server has ended.
    """
    request = {
        "run": list(arguments),
        "environ": dict(os.environ),
        "directory": directory,
        "own_group": own_group,
    }
    body = json.dumps(request).encode()
    connection = socket.socket(socket.AF_UNIX)
    try:
        with short_path(address) as path:
            connection.connect(path)
        length = len(body).to_bytes(LENGTH_BYTES, "big")
        socket.send_fds(connection, [length], list(streams))
        connection.sendall(body)
    except OSError:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def short_path(address: str) -> Iterator[str]:
    """Yield a short path to *address*: that of a socket has at most 107 bytes."""
    directory, name = os.path.split(address)
    number = os.open(directory, os.O_PATH)
    try:
        yield f"/proc/self/fd/{number}/{name}"
    finally:
        os.close(number)


def next_number(connection: socket.socket) -> int | None:
    """Return the number on the next line from the fork server, None if it has ended."""
    line = b""
    with contextlib.suppress(ConnectionError):
        while not line.endswith(b"\n"):
            received = connection.recv(1)  # never a byte of the next line
            if not received:
                return None
            line += received
        return int(line)
    return None


def main(address: str, arguments: Sequence[str]) -> int:
    """Run a child in our place, and return its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child gets it, too
    try:
        connection = request_fork(
            address, arguments, (0, 1, 2), directory=os.getcwd(), own_group=False
        )
    except OSError as error:
        sys.stderr.write(f"the fork server has ended: {error}\n")
        return 1
    with connection:
        for stream in (0, 1):
            os.close(stream)  # their ends are those of the child
        next_number(connection)
        code = next_number(connection)
    return 1 if code is None else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
