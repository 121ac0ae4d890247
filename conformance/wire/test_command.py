"""Commands: opaque and flag, and that requests on one connection do not disturb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer_errors import PeerError
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.targets.shared_target import SharedTarget
from conformance.strategies.boundaries import OVER_THE_WIRE, int32s
from conformance.wire.server import QUIET_S, Server
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.language import Version
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

ONEWAY = 2
VERSIONS = {
    version.name.removeprefix("V").replace("_", "."): int(version)
    for version in Version
}
"""The place of each studied release in the list of releases."""


@pytest.mark.read_only
@pytest.mark.clause("WIRE-COMMAND-003")
def test_a_response_has_the_opaque_of_its_request(server: Server) -> None:
    expect_opaques("WIRE-COMMAND-003", server, [1, 2**31 - 1])


@pytest.mark.read_only
@pytest.mark.clause("WIRE-COMMAND-004")
@OVER_THE_WIRE
@given(opaques=st.lists(int32s(), min_size=1, max_size=8))
def test_any_integer_is_an_opaque(server: Server, opaques: list[int]) -> None:
    expect_opaques("WIRE-COMMAND-004", server, opaques)


def expect_opaques(clause: str, server: Server, opaques: list[int]) -> None:
    """Fail *clause* unless requests with *opaques* get responses with the same."""
    # A connection of its own: a failed example may leave responses behind.
    with server.reconnected().peer as peer:
        for opaque in opaques:
            peer.send_bytes(
                encode_command(replace(server.known_request, opaque=opaque))
            )
        expect(
            clause,
            found=sorted(peer.receive().opaque for _ in opaques),
            expected=sorted(opaques),
            what="opaque",
            transcript=peer.transcript,
        )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-COMMAND-004")
def test_two_connections_may_use_the_same_opaque(server: Server) -> None:
    other = server.reconnected()
    with other.peer:
        for one in (server, other):
            one.peer.send(replace(one.known_request, opaque=7))
        found = [
            one.compared_parts(one.peer.receive_response(7)) for one in (other, server)
        ]
    expect(
        "WIRE-COMMAND-004",
        found=found,
        expected=[server.expected_parts] * 2,
        what="answers",
        transcript=(other if found[1] == server.expected_parts else server).transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-COMMAND-001", "WIRE-COMMAND-010")
@OVER_THE_WIRE
@given(bits=int32s())
def test_only_two_bits_of_the_flag_mean_something(server: Server, bits: int) -> None:
    response = server.request(flag=bits & ~3)
    expect(
        "WIRE-COMMAND-010",
        found=server.compared_parts(response),
        expected=server.expected_parts,
        what=f"the answer to a request with the flag {bits & ~3:#x}",
        transcript=server.transcript,
    )
    expect(
        "WIRE-COMMAND-001",
        found=response.flag & 1,
        expected=1,
        what="flag",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-COMMAND-006")
def test_a_response_that_nobody_waits_for_is_dropped(server: Server) -> None:
    for opaque in (0, 1, -1, 2**31 - 1):
        server.peer.send_bytes(encode_command(Command(code=0, opaque=opaque, flag=1)))
        server.peer.send_bytes(
            encode_command(replace(server.known_request, opaque=opaque, flag=1))
        )
    server.expect_response("WIRE-COMMAND-006")
    server.expect_silence("WIRE-COMMAND-006")


@pytest.mark.clause("WIRE-COMMAND-002")
def test_a_oneway_request_is_done_and_not_answered(
    namesrv: Client, unique: Callable[[str], str]
) -> None:
    space = unique("oneway")
    fields: dict[str, str | int | bool | None] = {"namespace": space, "key": "k"}
    namesrv.invoke_oneway(RequestCode.PUT_KV_CONFIG, {**fields, "value": "v"})
    silent = namesrv.peer.is_silent(QUIET_S)
    expect(
        "WIRE-COMMAND-002",
        found=silent,
        expected=True,
        what="silence",
        transcript=namesrv.transcript,
    )
    response = require_success(namesrv.get_kv(namespace=space, key="k"))
    expect(
        "WIRE-COMMAND-002",
        found=response.fields.get("value"),
        expected="v",
        what="value",
        transcript=namesrv.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-COMMAND-002", "WIRE-CONN-019")
def test_a_oneway_request_is_not_answered_when_it_fails(server: Server) -> None:
    failing = replace(server.known_request, fields={}, flag=ONEWAY)
    server.peer.send(failing)
    server.peer.send(replace(server.known_request, flag=ONEWAY))
    server.expect_silence("WIRE-CONN-019")
    server.expect_response("WIRE-CONN-019")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-001")
def test_many_requests_may_be_on_their_way_at_once(server: Server) -> None:
    opaques = range(5000, 5200)
    for opaque in opaques:
        server.peer.send(replace(server.known_request, opaque=opaque))
    responses = [server.peer.receive() for _ in opaques]
    expect(
        "WIRE-CONN-001",
        found=sorted(response.opaque for response in responses),
        expected=list(opaques),
        what="the opaques that were answered",
        transcript=server.transcript,
    )
    wrong = [
        response
        for response in responses
        if server.compared_parts(response) != server.expected_parts
    ]
    expect(
        "WIRE-CONN-001",
        found=wrong,
        expected=[],
        what="wrong answers",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-VERSION-001")
def test_a_responses_version_is_its_releases_place(
    server: Server, target: SharedTarget
) -> None:
    release = target.stated_release or target.release
    if release not in VERSIONS:
        unsupported(f"the place of {release} in the list of releases is not declared")
    expect(
        "WIRE-VERSION-001",
        found=server.request().version,
        expected=VERSIONS[release],
        what="version",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-025")
def test_a_new_connection_is_not_greeted(server: Server) -> None:
    server.expect_silence("WIRE-CONN-025")


@pytest.mark.clause("WIRE-CONN-023")
def test_a_broker_takes_messages_at_its_port_for_producers(
    target: SharedTarget, broker: Client, topic: str
) -> None:
    if target.admin or target.registered:
        unsupported("neither a proxy nor a forward has a port for producers")
    vip = broker.address._replace(port=broker.address.port - 2)
    try:
        producer = Client.connect(vip, access=target.access)
    except PeerError as error:
        expect(
            "WIRE-CONN-023",
            found=str(error),
            expected="a connection",
            transcript=broker.transcript,
        )
        raise
    with producer:
        sent = require_success(
            producer.send_message(topic=topic, body=b"by the vip port")
        )
    expect(
        "WIRE-CONN-023",
        found=require_success(broker.view_message_by_id(sent.fields["msgId"])).code,
        expected=ResponseCode.SUCCESS,
        what="code of a view of the message",
        transcript=broker.transcript,
    )
