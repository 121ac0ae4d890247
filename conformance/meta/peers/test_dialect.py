"""Requests have the header fields that a client of the profile's release adds."""

from __future__ import annotations

from unittest import mock

import pytest

from conformance.harness.baseline.plain_requests import PlainRequests
from conformance.harness.client.client import Client, plain_send
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.peer_errors import WrongOpaqueError
from conformance.harness.targets.target import Target
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


def sent_fields(release: str, command: Command) -> dict[str, str]:
    """Return the fields of *command* as a client of *release* sends them."""
    with (
        LyingServer(honest) as server,
        Client.connect(server.address, release, broker_name="b") as client,
        client.another() as other,
    ):
        return dict(other.peer.send(command).fields)


@pytest.mark.parametrize(
    ("release", "code", "added"),
    [
        ("4.6.0", RequestCode.GET_MAX_OFFSET, {}),
        ("4.9.7", RequestCode.GET_MAX_OFFSET, {"bname": "b"}),
        ("5.3.3", RequestCode.END_TRANSACTION, {"bname": "b"}),
        ("5.3.3", RequestCode.SEND_MESSAGE_V2, {"n": "b"}),
        ("5.3.3", RequestCode.SEND_BATCH_MESSAGE, {"n": "b"}),
        ("5.3.3", RequestCode.GET_ROUTEINFO_BY_TOPIC, {}),
        ("5.0.0", RequestCode.POP_MESSAGE, {}),
        ("5.1", RequestCode.POP_MESSAGE, {"bname": "b"}),
        ("5.3.3", RequestCode.ACK_MESSAGE, {"bname": "b"}),
        ("5.3.3", RequestCode.CHANGE_MESSAGE_INVISIBLETIME, {"bname": "b"}),
        ("5.3.3", RequestCode.BATCH_ACK_MESSAGE, {}),
    ],
)
def test_the_broker_is_named_since_4_9_5(
    release: str, code: RequestCode, added: dict[str, str]
) -> None:
    assert sent_fields(release, Command(code=code, fields={"a": "1"})) == {
        "a": "1",
        **added,
    }


def test_a_field_of_the_test_is_kept() -> None:
    assert sent_fields("5.3.3", plain_send("T", bname="other"))["bname"] == "other"


def test_a_response_is_sent_unchanged() -> None:
    response = Command(code=RequestCode.GET_MAX_OFFSET, flag=1, opaque=1)
    assert sent_fields("5.3.3", response) == {}


def test_the_baseline_names_the_broker() -> None:
    # A proxy that does not forward responds to requests without a name only.
    def opaque_of_its_own(sent: Command) -> bytes:
        return honest(sent, opaque=sent.opaque + ("bname" in sent.fields))

    target = mock.create_autospec(Target, instance=True)
    with LyingServer(opaque_of_its_own) as server:
        target.connect_to_broker.return_value = Client.connect(
            server.address, "5.3.3", broker_name="b"
        )
        with pytest.raises(WrongOpaqueError):
            PlainRequests(target).check_named_broker()
