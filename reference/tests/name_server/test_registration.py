"""A registration needs all the fields that Java marks as required."""

from __future__ import annotations

import pytest

from reference.core.name_server.registration_requests import register_broker
from reference.core.remoting.request import Refused, Request
from reference.tests.name_server.servers import name_server

FIELDS = {
    "clusterName": "C",
    "brokerAddr": "127.0.0.1:1",
    "brokerName": "a",
    "brokerId": "0",
    "haServerAddr": "127.0.0.1:2",
}


@pytest.mark.parametrize("absent", FIELDS)
def test_a_registration_without_a_required_field_is_refused(absent: str) -> None:
    fields = {name: value for name, value in FIELDS.items() if name != absent}
    server = name_server()
    request = Request(103, 1, 0, fields, b"", "JAVA", 317)
    with pytest.raises(Refused, match=f"the custom field <{absent}> is null"):
        register_broker(server.routes, server.kv_config, request)
    assert server.routes.brokers == {}
