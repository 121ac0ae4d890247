"""Each test of a connection is asked of the name server and of the broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.speaker import Speaker
from conformance.wire import server as servers
from conformance.wire.server import Server


@pytest.fixture(params=["namesrv", "broker"])
def server(request: pytest.FixtureRequest, unique: Callable[[str], str]) -> Server:
    """Return a fresh connection to either server, with its question."""
    speaker = request.getfixturevalue(request.param)
    assert isinstance(speaker, Speaker)
    make = servers.name_server if request.param == "namesrv" else servers.broker
    return make(speaker.peer, unique("nowhere"))
