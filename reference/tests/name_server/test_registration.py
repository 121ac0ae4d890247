"""A registration needs its fields, except the address for slaves."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reference.core.name_server.registration_requests import (
    register_broker,
    unregister_broker,
)
from reference.core.name_server.server import NameServer
from reference.core.remoting.request import Refused, Request
from reference.tests.name_server.servers import name_server

FIELDS = {
    "clusterName": "C",
    "brokerAddr": "127.0.0.1:1",
    "brokerName": "a",
    "brokerId": "0",
}


@pytest.mark.parametrize("absent", FIELDS)
def test_a_registration_without_a_required_field_is_refused(absent: str) -> None:
    fields = {name: value for name, value in FIELDS.items() if name != absent}
    server = name_server()
    with pytest.raises(Refused, match=f"the custom field <{absent}> is null"):
        register(server, fields)
    assert server.routes.brokers == {}


def test_a_broker_needs_no_address_for_slaves() -> None:
    server = name_server()
    assert register(server, FIELDS) == {}
    slave = {"brokerId": "1", "brokerAddr": "127.0.0.1:3"}
    assert register(server, FIELDS | slave) == {"masterAddr": "127.0.0.1:1"}


def test_a_broker_unregisters_by_its_name_and_id() -> None:
    server = name_server()
    register(server, FIELDS)
    fields = {"brokerName": "a", "brokerId": "0"}
    unregister_broker(server.routes, Request(104, 1, 0, fields, b"", "JAVA", 317))
    assert server.routes.brokers == {}


def register(server: NameServer, fields: Mapping[str, str]) -> Mapping[str, object]:
    """Register a broker; return the fields of the response."""
    request = Request(103, 1, 0, fields, b"", "JAVA", 317)
    return register_broker(server.routes, server.kv_config, request).fields
