"""A server in a process of this machine: its directory, and one request to it."""

from __future__ import annotations

import socket
from pathlib import Path

from spec.wire.remoting.command import Command, decode_command, encode_command

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 20.0


def invoke(port: int, code: int, body: bytes = b"", **fields: str) -> Command:
    """Return the response of the server at a local port."""
    frame = encode_command(Command(code=code, opaque=1, body=body, fields=fields))
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as link:
        link.sendall(frame)
        response = link.makefile("rb")
        length = response.read(4)
        return decode_command(length + response.read(int.from_bytes(length, "big")))
