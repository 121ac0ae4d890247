"""Requests with unknown codes, and the behaviour of releases with them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.expectations import (
    expect_code,
)
from conformance.strategies.boundaries import OVER_THE_WIRE
from conformance.wire import server as servers
from conformance.wire.server import Server
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

UNKNOWN = (-1, 9999, 70_000, 2**31 - 1, -(2**31))
unknown_codes = st.one_of(st.sampled_from(UNKNOWN), st.integers(300_000, 2**31 - 1))


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-002")
def test_a_broker_leaves_unknown_requests_unanswered(broker: Client) -> None:
    _stays_silent(servers.broker(broker.peer, "nowhere"), "WIRE-CONN-002")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-004")
def test_a_name_server_leaves_unknown_requests_unanswered(namesrv: Client) -> None:
    _stays_silent(servers.name_server(namesrv.peer, "nowhere"), "WIRE-CONN-004")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-003")
@OVER_THE_WIRE
@given(code=unknown_codes)
def test_a_broker_says_that_it_does_not_know_a_request(
    broker: Client, code: int
) -> None:
    _expect_not_supported(broker, code, "WIRE-CONN-003")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-005")
@OVER_THE_WIRE
@given(code=unknown_codes)
def test_a_name_server_says_that_it_does_not_know_a_request(
    namesrv: Client, code: int
) -> None:
    _expect_not_supported(namesrv, code, "WIRE-CONN-005")


def _stays_silent(server: Server, clause: str) -> None:
    for code in UNKNOWN:
        server.peer.send(replace(server.known_request, code=code))
    server.expect_response(clause)
    server.expect_silence(clause)


def _expect_not_supported(client: Client, code: int, clause: str) -> None:
    response = client.peer.request(Command(code=code))
    expect_code(
        clause, response, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, client.transcript
    )
