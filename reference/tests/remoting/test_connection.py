"""Connections: frames cut anywhere, and the first frame that cannot be decoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.core.remoting.connection import Connection, strict_json
from reference.core.remoting.request import Request
from spec.host import Host
from spec.wire.remoting.command import Command, encode_command

PEER = Host.of("127.0.0.1", 40000)

commands = st.builds(
    Command,
    code=st.integers(0, 1000),
    opaque=st.integers(-(2**31), 2**31 - 1),
    fields=st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=9)),
    body=st.binary(max_size=50),
    serialize_type=st.sampled_from([0, 1]),
)


def fed(pieces: list[bytes]) -> tuple[Connection, list[Request]]:
    """Return a connection after these pieces, and the requests they made."""
    connection = Connection(1, PEER)
    requests: list[Request] = []
    for piece in pieces:
        connection.receive(piece, 0)
        requests += iter(connection.next_request, None)
    return connection, requests


@given(sent=st.lists(commands, max_size=4), size=st.integers(1, 200))
def test_frames_mean_the_same_however_they_are_cut(
    sent: list[Command], size: int
) -> None:
    data = b"".join(encode_command(command) for command in sent)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    connection, requests = fed(pieces)
    assert connection.decode_error is None
    found = [(r.code, r.opaque, dict(r.fields), r.body) for r in requests]
    assert found == [(c.code, c.opaque, dict(c.fields), c.body) for c in sent]


BROKEN = {
    "negative_length": b"\xff\xff\xff\xff",
    "length_over_the_limit": b"\x01\x00\x00\x00",
    "no_header_length": b"\x00\x00\x00\x00",
    "header_past_the_end": b"\x00\x00\x00\x06\x00\x00\x00\x07{}",
    "unknown_dialect": b"\x00\x00\x00\x06\x07\x00\x00\x02{}",
    "no_json": b"\x00\x00\x00\x06\x00\x00\x00\x02xx",
    "no_object": b"\x00\x00\x00\x06\x00\x00\x00\x02[]",
    "deep_json": b"\x00\x00\xc3\x54\x00\x00\xc3\x50" + b"[" * 50_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_first_unreadable_frame_ends_it(name: str) -> None:
    good = encode_command(Command(code=1))
    connection, requests = fed([good + BROKEN[name] + good, good])
    assert [request.code for request in requests] == [1]
    assert connection.decode_error is not None


def test_a_large_frame_that_has_only_begun_waits() -> None:
    connection, requests = fed([b"\x00\xff\xff\xfc", b"x" * 1000])
    assert requests == []
    assert connection.decode_error is None


def test_a_large_frame_is_joined_once_when_it_is_whole() -> None:
    connection = Connection(1, PEER)
    data = encode_command(Command(code=1, body=bytes(100_000)))
    for start in range(0, len(data) - 1000, 1000):
        connection.receive(data[start : start + 1000], 0)
        assert connection.next_request() is None
        assert connection._data == b""
        assert connection._needed == len(data)
        assert len(connection._pending) == connection.unfinished_size == start + 1000
    connection.receive(data[len(connection._pending) :], 0)
    request = connection.next_request()
    assert request is not None
    assert len(request.body) == 100_000
    assert (len(connection._pending), connection.unfinished_size) == (0, 0)


UNFINISHED = {
    "comments": b"/*a" * 400_000,
    "escaped quotes": b'"\\' * 600_000,
    "single quotes": b"'\\" * 600_000,
}


@pytest.mark.parametrize("name", UNFINISHED)
def test_a_text_without_its_end_is_read_once(name: str) -> None:
    """A scan from each begin of a comment or string would take hours."""
    assert strict_json(UNFINISHED[name]) == UNFINISHED[name]


def test_comments_and_trailing_commas_are_skipped() -> None:
    assert (
        strict_json(b'{"a":"/*x*/",/*c*/"b":\'//\',}//e') == b'{"a":"/*x*/","b":\'//\'}'
    )
