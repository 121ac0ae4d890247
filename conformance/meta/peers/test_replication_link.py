"""Silence on a connection of replication is the target's, not an error."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from conformance.harness.client.peer import ClosedError, NoResponseError
from conformance.harness.client.replication_link import accept, receive


def test_a_slave_that_does_not_connect_is_no_error_of_the_suite() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(NoResponseError, match=r"waited 0\.05 s for a slave to connect"),
    ):
        accept(server, 0.05)


def test_silence_and_a_close_name_the_missing_part() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        slave = socket.create_connection(server.getsockname())
        with closing(accept(server, 5.0)) as link:
            with pytest.raises(NoResponseError, match="its report did not come"):
                receive(link, "its report", 0.05)
            slave.close()
            with pytest.raises(ClosedError, match="before its report"):
                receive(link, "its report", 5.0)
