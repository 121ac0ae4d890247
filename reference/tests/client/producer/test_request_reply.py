"""Requests that wait for a reply, with scripted responses."""

from __future__ import annotations

import zlib

import pytest

from reference.core.client.message import Message
from reference.core.client.producer.request_reply import (
    RequestReplyService,
    reply_message,
)
from reference.core.client.remoting.errors import ClientError
from reference.tests.client.routes import route_of
from reference.tests.client.world import Call, SentRequest, World
from spec.wire.message.properties import decode_properties, encode_properties
from spec.wire.remoting.command import Command

SEND, PUSH, HEART_BEAT = 310, 326, 34
WAIT_MS = 500


class Requesting:
    """A producer whose request was sent."""

    def __init__(self) -> None:
        self.world = World()
        producer = self.world.producer()
        self.requests = RequestReplyService(producer, self.world.client)
        self.call = self.request()
        self.world.give_route(route_of("a"))
        self.heartbeat, self.sent = self.world.sent_requests()

    def request(self) -> Call:
        """Begin a request."""
        message = Message(topic="T", body=b"?")
        return self.world.begin(self.requests.request(message, timeout_ms=WAIT_MS))

    @property
    def own_id(self) -> str:
        """The id of the request."""
        return decode_properties(self.sent.command.fields["i"])["CORRELATION_ID"]

    def push(self, own_id: str, body: bytes = b"!", flags: int = 0) -> int:
        """Push a reply, and return the code that it is answered with."""
        properties = encode_properties({"CORRELATION_ID": own_id})
        fields = {"topic": "R", "sysFlag": str(flags), "properties": properties}
        pushed = Command(code=PUSH, opaque=7, fields=fields, body=body)
        self.world.receive(self.sent.address, pushed)
        return self.world.sent_request().command.code

    def result(self) -> object:
        """Return the result of the request."""
        self.world.sent_requests()
        return self.world.finished[self.call]


def properties_of(sent: SentRequest) -> dict[str, str]:
    return dict(decode_properties(sent.command.fields["i"]))


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_reply_is_handed_out_before_the_answer_or_after_it(is_stored: bool) -> None:
    requesting = Requesting()
    if is_stored:
        requesting.world.store(requesting.sent)
    assert requesting.push("another") == 0
    assert requesting.call not in requesting.world.finished
    assert requesting.push(requesting.own_id, zlib.compress(b"!"), flags=1) == 0
    found = requesting.result()
    assert isinstance(found, Message)
    assert (found.topic, found.body) == ("R", b"!")
    assert requesting.push(requesting.own_id) == 0, "nobody waits any more"
    if not is_stored:
        requesting.world.store(requesting.sent)
    requesting.world.wait(WAIT_MS)


def test_what_cannot_be_inflated_is_handed_out_as_it_came() -> None:
    requesting = Requesting()
    requesting.push(requesting.own_id, b"no zlib", flags=1)
    found = requesting.result()
    assert isinstance(found, Message)
    assert found.body == b"no zlib"


def test_what_cannot_be_sent_ends_at_once() -> None:
    requesting = Requesting()
    requesting.world.store(requesting.sent, code=24_680)
    error = requesting.result()
    assert isinstance(error, ClientError)
    assert error.failure.code == 24_680
    requesting.world.wait(WAIT_MS)


def test_what_names_no_cluster_cannot_be_replied_to() -> None:
    with pytest.raises(ClientError) as caught:
        reply_message({"CORRELATION_ID": "1"}, b"!")
    assert caught.value.failure.code == 10007
