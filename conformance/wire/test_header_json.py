"""JSON headers: what is in them, and what a reader puts up with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer_errors import PeerMisbehavedError
from conformance.harness.failure.failure import ConformanceFailure, Finding
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.strategies.boundaries import OVER_THE_WIRE, int32s, texts
from conformance.strategies.frames import frame_of
from conformance.wire.server import Server
from spec.wire.remoting.command import Command, decode_command
from spec.wire.remoting.request_code import RequestCode

MEMBERS = {"code", "language", "version", "opaque", "flag", "remark", "extFields"}
REQUIRED = {"code", "language", "version", "opaque", "flag"}
OPAQUE = 4711

LENIENT: dict[str, Callable[[str], str]] = {
    "single quotes": lambda text: text.replace('"', "'"),
    "bare names": lambda text: text.replace('"code"', "code").replace('"flag"', "flag"),
    "a comma at the end": lambda text: text[:-1] + ",}",
    "a comment": lambda text: "/* a comment */" + text,
}
TOO_LARGE = {
    "opaque": 2**31,
    "flag": -(2**31) - 1,
    "version": 2**31,
    "code": 2**40,
}


def members_of(server: Server) -> dict[str, object]:
    """Return the members of the header of the server's known request."""
    return header_members(server.known_request.code, server.known_request.fields)


def header_members(code: int, fields: Mapping[str, str]) -> dict[str, object]:
    """Return the members of a header, all those that Java writes."""
    return {
        "code": int(code),
        "language": "JAVA",
        "version": 317,
        "opaque": OPAQUE,
        "flag": 0,
        "serializeTypeCurrentRPC": "JSON",
        "extFields": dict(fields),
    }


def expect_known_response(
    server: Server, header: bytes, clause: str, what: str
) -> Command:
    """Send *header* in a frame; fail *clause* unless the response is the known one.

    A request with a common header comes first. If it fails, *header* is not the cause.
    """
    server.request()
    server.peer.send_bytes(frame_of(header))
    try:
        response = server.peer.receive()
    except PeerMisbehavedError as error:
        finding = Finding(
            found=error.reason, expected="an answer", what=f"after a header with {what}"
        )
        raise ConformanceFailure(
            clause, [finding], transcript=error.transcript
        ) from None
    expect(
        clause,
        found=(response.opaque, server.compared_parts(response)),
        expected=(OPAQUE, server.expected_parts),
        what=f"opaque and answer to a header with {what}",
        transcript=server.transcript,
    )
    return response


def expect_closed(server: Server, header: bytes, clause: str) -> None:
    """Send *header* on a connection of its own, and fail *clause* unless it closes."""
    one = server.reconnected()
    with one.peer:
        one.peer.send_bytes(frame_of(header))
        expect(
            clause,
            found=one.peer.received_close(),
            expected=True,
            what="whether the connection was closed",
            transcript=one.transcript,
        )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-JSON-001", "WIRE-JSON-002", "WIRE-JSON-005", "WIRE-JSON-006")
def test_a_responses_header_has_the_members_of_a_command(server: Server) -> None:
    server.peer.send(server.known_request)
    frame = server.peer.receive_bytes()
    header = server.json_header_of(frame)
    expect(
        "WIRE-JSON-001",
        found=REQUIRED - set(header),
        expected=set(),
        what="absent",
        transcript=server.transcript,
    )
    expect(
        "WIRE-JSON-001",
        found=set(header) - MEMBERS - {"serializeTypeCurrentRPC"},
        expected=set(),
        what="unknown members",
        transcript=server.transcript,
    )
    fields = header.get("extFields") or {}
    wrong = {name: value for name, value in fields.items() if type(value) is not str}
    expect(
        "WIRE-JSON-002",
        found=wrong,
        expected={},
        what="values that are no strings",
        transcript=server.transcript,
    )
    language = header["language"]
    expect_that(
        "WIRE-JSON-005",
        isinstance(language, str) and language.isupper(),
        found=language,
        expected="a name in capitals",
        what="language",
        transcript=server.transcript,
    )
    nulls = [name for name, value in header.items() if value is None]
    expect(
        "WIRE-JSON-006",
        found=nulls,
        expected=[],
        what="members that are null",
        transcript=server.transcript,
    )
    expect_that(
        "WIRE-JSON-001",
        decode_command(frame).is_response,
        found=0,
        expected="1",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-JSON-008")
def test_the_serialize_type_may_be_in_the_frame_alone(server: Server) -> None:
    members = members_of(server)
    del members["serializeTypeCurrentRPC"]
    header = json.dumps(members).encode()
    expect_known_response(server, header, "WIRE-JSON-008", "no serializeTypeCurrentRPC")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-JSON-004")
@OVER_THE_WIRE
@given(data=st.data(), space=st.sampled_from(["", " ", "\n", "\t \r\n"]))
def test_order_and_white_space_mean_nothing(
    server: Server, data: st.DataObject, space: str
) -> None:
    members = data.draw(st.permutations(list(members_of(server).items())))
    inner = f"{space},{space}".join(
        f"{json.dumps(name)}{space}:{space}{json.dumps(value)}"
        for name, value in members
    )
    header = f"{space}{{{space}{inner}{space}}}{space}"
    expect_known_response(server, header.encode(), "WIRE-JSON-004", "another order")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-JSON-003")
@OVER_THE_WIRE
@given(
    extra=st.dictionaries(
        st.text("abcdefgh", min_size=1).map("x_".__add__),
        st.recursive(
            st.none() | st.booleans() | st.integers(-100, 100) | st.text("ab\"'\\{}"),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.text("ab"), inner, max_size=2)
            ),
            max_leaves=4,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_members_that_nobody_knows_change_nothing(
    server: Server, extra: dict[str, object]
) -> None:
    header = json.dumps({**extra, **members_of(server)}).encode()
    expect_known_response(server, header, "WIRE-JSON-003", "unknown members")


@pytest.mark.clause("WIRE-JSON-007")
@pytest.mark.parametrize("ascii_only", [True, False])
@OVER_THE_WIRE
@given(text=texts())
def test_any_character_may_be_written_plainly_or_escaped(
    namesrv: Client, unique: Callable[[str], str], ascii_only: bool, text: str
) -> None:
    space = unique("unicode")
    fields = {"namespace": space, "key": "k", "value": text}
    members = header_members(RequestCode.PUT_KV_CONFIG, fields)
    header = json.dumps(members, ensure_ascii=ascii_only).encode()
    namesrv.peer.send_bytes(frame_of(header))
    require_success(namesrv.peer.receive())
    response = require_success(namesrv.get_kv(namespace=space, key="k"))
    expect(
        "WIRE-JSON-007",
        found=response.fields.get("value"),
        expected=text,
        what="value",
        transcript=namesrv.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-006", "WIRE-CONN-014")
@OVER_THE_WIRE
@given(
    language=st.sampled_from(("JAVA", "CPP", "GO", "RUST", "OTHER", "java", "KLINGON"))
)
def test_any_language_is_served(server: Server, language: str) -> None:
    header = json.dumps({**members_of(server), "language": language}).encode()
    response = expect_known_response(
        server, header, "WIRE-CONN-006", f"language {language}"
    )
    usual = server.request()
    expect(
        "WIRE-CONN-014",
        found=response.language,
        expected=usual.language,
        what="language",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-007", "WIRE-CONN-014")
@OVER_THE_WIRE
@given(version=int32s())
def test_any_version_is_served(server: Server, version: int) -> None:
    header = json.dumps({**members_of(server), "version": version}).encode()
    response = expect_known_response(
        server, header, "WIRE-CONN-007", f"version {version}"
    )
    expect(
        "WIRE-CONN-014",
        found=response.version,
        expected=server.request().version,
        what="version",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-006")
def test_the_language_may_be_absent(server: Server) -> None:
    expect_known_response(
        server, header_without(server, "language"), "WIRE-CONN-006", "no language"
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-007")
def test_the_version_may_be_absent(server: Server) -> None:
    expect_known_response(
        server, header_without(server, "version"), "WIRE-CONN-007", "no version"
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-007")
def test_the_flag_may_be_absent(server: Server) -> None:
    expect_known_response(
        server, header_without(server, "flag"), "WIRE-CONN-007", "no flag"
    )


def header_without(server: Server, name: str) -> bytes:
    """Return the header of a request without the member *name*."""
    members = {k: v for k, v in members_of(server).items() if k != name}
    return json.dumps(members).encode()


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-008")
@OVER_THE_WIRE
@given(remark=texts(max_size=300))
def test_a_requests_remark_changes_nothing(server: Server, remark: str) -> None:
    header = json.dumps({**members_of(server), "remark": remark}).encode()
    expect_known_response(server, header, "WIRE-CONN-008", "a remark")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-009")
def test_a_request_without_opaque_is_answered(server: Server) -> None:
    server.peer.send_bytes(frame_of(header_without(server, "opaque")))
    expect(
        "WIRE-CONN-009",
        found=server.compared_parts(server.peer.receive()),
        expected=server.expected_parts,
        what="the answer",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-010")
@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_number_of_more_than_32_bits_closes_the_connection(
    server: Server, name: str
) -> None:
    header = json.dumps({**members_of(server), name: TOO_LARGE[name]}).encode()
    expect_closed(server, header, "WIRE-CONN-010")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-011")
def test_a_number_may_stand_in_quotes(server: Server) -> None:
    header = json.dumps(members_of(server)).replace("4711", '"4711"').encode()
    expect_known_response(server, header, "WIRE-CONN-011", "a number in quotes")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-012")
@pytest.mark.parametrize("liberty", LENIENT)
def test_a_reader_of_json_is_lenient(server: Server, liberty: str) -> None:
    header = LENIENT[liberty](json.dumps(members_of(server))).encode()
    expect_known_response(server, header, "WIRE-CONN-012", liberty)


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-013")
@pytest.mark.parametrize("tail", ["x", "}", "{}", '"', "1"])
def test_anything_after_the_object_closes_the_connection(
    server: Server, tail: str
) -> None:
    expect_closed(
        server, json.dumps(members_of(server)).encode() + tail.encode(), "WIRE-CONN-013"
    )


def _with_bad_utf8(server: Server) -> bytes:
    header = json.dumps({**members_of(server), "remark": "XX"})
    return header.encode().replace(b"XX", b"\xff\xfe")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-026")
def test_bytes_that_are_not_utf8_are_read_as_something(server: Server) -> None:
    expect_known_response(server, _with_bad_utf8(server), "WIRE-CONN-026", "bad UTF-8")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-027")
def test_bytes_that_are_not_utf8_close_the_connection(server: Server) -> None:
    expect_closed(server, _with_bad_utf8(server), "WIRE-CONN-027")
