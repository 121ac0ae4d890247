"""
Ask a name server, while a cluster starts, which brokers there are.

It is not a test and judges nothing, so it does not go through `Peer`: whatever is not
an answer yet (refused, closed, silent) is an empty answer, and is asked again.
"""

from __future__ import annotations

import json
import re
import socket
import struct

from conformance.harness.address import Address

GET_BROKER_CLUSTER_INFO = 106
ANSWER_TIMEOUT_S = 2.0


def broker_addresses(name_server: Address) -> set[str]:
    """Return the addresses, as HOST:PORT, of all brokers that are registered."""
    header = json.dumps(
        {"code": GET_BROKER_CLUSTER_INFO, "language": "OTHER", "opaque": 1, "flag": 0}
    ).encode()
    request = struct.pack(">II", 4 + len(header), len(header)) + header
    try:
        with socket.create_connection(name_server, ANSWER_TIMEOUT_S) as connection:
            connection.settimeout(ANSWER_TIMEOUT_S)
            connection.sendall(request)
            with connection.makefile("rb") as answer:
                (length,) = struct.unpack(">I", answer.read(4))
                body = answer.read(length)
    except (OSError, struct.error):
        return set()
    return set(re.findall(r'\d+:"([^"]+:\d+)"', body.decode("utf-8", "replace")))
