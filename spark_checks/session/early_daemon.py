"""
A daemon of Python workers that imports while Spark starts.

Spark starts a daemon at the first task of Python. Its imports and kernels then take a
second, in which Spark waits. The driver starts this daemon before Java
(`daemon_process`). Spark's own daemon passes its standard streams, environment and
arguments through a local socket, and waits for the end. It imports this module, which
therefore imports little. Only the first daemon of a session does so. Other daemons
import for themselves.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from contextlib import suppress
from pathlib import Path

from spark_checks.session.worker_imports import (
    import_for_workers,
    keep_archive_listings,
)

SOCKET_VARIABLE = "RMQC_EARLY_DAEMON"
"""Environment variable with the path of the early daemon's socket."""
_READY = b"\n"


def is_replaced_by_early_daemon() -> bool:
    """Let the early daemon work instead of this process; return False without one.

    Returns True when the early daemon has ended.
    """
    path = os.environ.pop(SOCKET_VARIABLE, None)
    if path is None:
        return False
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            Path(path).unlink()
            socket.send_fds(connection, [_READY], [0, 1, 2])
            place = {"environment": dict(os.environ), "arguments": sys.argv[1:]}
            connection.sendall(json.dumps(place).encode())
            connection.shutdown(socket.SHUT_WR)
            if connection.recv(1) != _READY:
                return False
        except OSError:  # it has failed, or has another place
            return False
        with suppress(OSError):
            connection.recv(1)
    return True


def _take_place(listener: socket.socket) -> socket.socket:
    """Take the streams and the environment of the process that connects.

    Returns the connection. Exits if the driver ends first.
    """
    if listener not in select.select([listener, sys.stdin], [], [])[0]:
        sys.exit()
    connection, _ = listener.accept()
    _, streams, _, _ = socket.recv_fds(connection, len(_READY), 3)
    with connection.makefile("rb") as file:
        place = json.load(file)
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    os.environ.clear()
    os.environ.update(place["environment"])
    sys.argv[1:] = place["arguments"]
    connection.sendall(_READY)
    return connection


def main() -> None:
    """Import, then become the daemon of the process that connects."""
    keep_archive_listings()
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        import_for_workers()
        connection = _take_place(listener)
    with connection:
        from pyspark.daemon import manager  # reads the arguments

        manager()  # type: ignore[no-untyped-call] # PySpark's


if __name__ == "__main__":
    main()
