"""A client with credentials signs every request, and shows its secret nowhere."""

from __future__ import annotations

from reference.core.client.effects import Write
from reference.core.client.options import ProducerOptions
from reference.core.client.remoting.errors import Failure, Reason
from reference.core.client.remoting.rpc_client import Result, RpcClient
from reference.core.client.remoting.tasks import start
from reference.core.remoting.response import Response, create_request
from spec.security.signature import (
    ACCESS_KEY,
    SIGNATURE,
    Credentials,
    content_of,
    sign,
)
from spec.wire.remoting.command import Command, decode_command

KEYS = Credentials(access_key="someone", secret_key="a-secret")  # noqa: S106
REQUEST = create_request(34, {"zone": "1", "a": "2"}, b"body")


def clock() -> int:
    """Return the time, which stands still."""
    return 0


def written(rpc: RpcClient) -> list[Command]:
    """Return the commands that *rpc* has written."""
    effects = rpc.take_effects()
    return [decode_command(one.frame) for one in effects if isinstance(one, Write)]


def test_requests_with_and_without_a_response_are_signed() -> None:
    rpc = RpcClient(clock, KEYS)
    start(rpc.invoke("a:1", REQUEST, 1000))
    rpc.invoke_oneway("a:1", REQUEST)
    for command in written(rpc):
        assert command.fields[ACCESS_KEY] == KEYS.access_key
        content = content_of(command.fields, command.body)
        assert command.fields[SIGNATURE] == sign(content, KEYS.secret_key)
        assert KEYS.secret_key not in str(command)


def test_a_response_is_not_signed() -> None:
    rpc = RpcClient(clock, KEYS)
    rpc.respond("a:1", 7, Response())
    (response,) = written(rpc)
    assert response.fields == {}


def test_without_credentials_a_request_is_sent_as_it_is() -> None:
    rpc = RpcClient(clock)
    rpc.invoke_oneway("a:1", REQUEST)
    (command,) = written(rpc)
    assert command.fields == REQUEST.fields


def test_neither_options_nor_failures_show_the_secret() -> None:
    options = ProducerOptions(group="g", credentials=KEYS)
    assert KEYS.secret_key not in repr(options)
    rpc = RpcClient(clock, KEYS)
    ended: list[Result] = []

    async def invoke() -> None:
        ended.append(await rpc.invoke("a:1", REQUEST, 1000))

    start(invoke())
    rpc.request_failed(0, Reason.CONNECT)
    (failure,) = ended
    assert isinstance(failure, Failure)
    assert KEYS.secret_key not in repr(failure)
