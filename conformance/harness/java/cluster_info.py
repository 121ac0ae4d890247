"""
Brokers that a name server lists while a cluster starts.

This is not a test, so it does not use `Peer`. A refused, closed or silent connection is
an empty response. The query is then repeated.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import struct

from conformance.harness.client.address import Address

GET_BROKER_CLUSTER_INFO = 106
GET_ALL_TOPICS = 206
RESPONSE_TIMEOUT_S = 2.0


def broker_addresses(
    name_server: Address, tls: ssl.SSLContext | None = None
) -> set[str]:
    """Return the addresses, as HOST:PORT, of all brokers that are registered."""
    response = _response(name_server, GET_BROKER_CLUSTER_INFO, tls)
    return set(re.findall(r'\d+:"([^"]+:\d+)"', response))


def is_empty_name_server(name_server: Address) -> bool:
    """Return whether it answers, and has neither a broker nor a topic."""
    codes = GET_BROKER_CLUSTER_INFO, GET_ALL_TOPICS
    try:
        bodies = [json.loads(_response(name_server, code)) for code in codes]
    except ValueError:  # no response, or numbers as names: there are brokers
        return False
    return not any(value for body in bodies for value in body.values())


def _response(
    name_server: Address, code: int, tls: ssl.SSLContext | None = None
) -> str:
    """Return the body of the response, empty without one."""
    command = {"code": code, "language": "OTHER", "opaque": 1, "flag": 0}
    header = json.dumps(command).encode()
    request = struct.pack(">II", 4 + len(header), len(header)) + header
    try:
        plain = socket.create_connection(name_server, RESPONSE_TIMEOUT_S)
        with tls.wrap_socket(plain) if tls is not None else plain as connection:
            connection.settimeout(RESPONSE_TIMEOUT_S)
            connection.sendall(request)
            with connection.makefile("rb") as response:
                length, header_length = struct.unpack(">II", response.read(8))
                content = response.read(length - 4)
    except (OSError, struct.error, ValueError):
        return ""
    return content[header_length & 0xFFFFFF :].decode("utf-8", "replace")
