"""Each test of a connection runs with the name server and with the broker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from conformance.harness.client.client import Client
from conformance.wire import server as servers
from conformance.wire.server import Server


@pytest.fixture(params=["namesrv", "broker"])
def server(request: pytest.FixtureRequest, unique: Callable[[str], str]) -> Server:
    """Return a fresh connection to either server, with its known request."""
    client = request.getfixturevalue(request.param)
    assert isinstance(client, Client)
    make = servers.name_server if request.param == "namesrv" else servers.broker
    made = make(client.peer, unique("nowhere"))
    return replace(made, is_proxy=client.storage is not None)
