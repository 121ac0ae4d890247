"""
Health of a target: whether its name server and its broker still respond.

After a target has ended or hangs, later tests have no verdict about their clauses.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Collection
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from conformance.harness.client.access import ANY_CERTIFICATE, client_context
from conformance.harness.client.address import Address
from conformance.harness.targets.target import Target
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.frame import SIZE_WORD
from spec.wire.remoting.request_code import RequestCode

PATIENCE_S = 5.0
"""Longer than any release takes for these requests on a busy machine."""
REFUSAL_S = 1.0
"""Time after a handshake in which a server refuses a certificate."""
NAME_SERVER, BROKER = "name server", "broker"
_REQUESTS = {
    NAME_SERVER: encode_command(Command(code=RequestCode.GET_BROKER_CLUSTER_INFO)),
    BROKER: encode_command(Command(code=RequestCode.GET_MAX_OFFSET)),
}
"""Requests that change nothing; any response will do, also an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server of a target, by its role."""

    role: str
    address: Address
    tls: ssl.SSLContext | None = None


def servers_of(target: Target) -> list[Server]:
    """Return the servers of *target* that listen."""
    addresses = {NAME_SERVER: target.namesrv, BROKER: target.broker}
    return [
        Server(role=role, address=address, tls=target.access.tls)
        for role, address in addresses.items()
        if address is not None
    ]


def healthy_roles(target: Target) -> list[str]:
    """Return the roles of the servers of *target* that respond."""
    return [one.role for one in servers_of(target) if not _problem_of(one, PATIENCE_S)]


class Health:
    """The servers of a target that responded when it had started.

    A server that never responded to these requests is not watched.
    """

    def __init__(self, target: Target, roles: Collection[str]) -> None:
        self._watched = [one for one in servers_of(target) if one.role in roles]

    def problem(self, patience_s: float = PATIENCE_S) -> str:
        """Return the first problem of a server, in words; empty without any.

        Only a problem that is there twice counts: a busy machine may be late once.
        """
        for server in self._watched:
            if _problem_of(server, patience_s) and (
                problem := _problem_of(server, patience_s)
            ):
                return problem
        return ""


def tls_problem(role: str, address: Address, tls: ssl.SSLContext | None) -> str:
    """Return why no request reaches a server, if that is for TLS; empty otherwise.

    *tls* is None for a connection without encryption. A response to the request of any
    role is enough: an operator may state a name server as the broker.
    """
    of_roles = (
        Server(role=one, address=address, tls=tls)
        for one in dict.fromkeys((role, *_REQUESTS))
    )
    if not all(_problem_of(one, PATIENCE_S) for one in of_roles):
        return ""
    if tls is None:
        if _tls_error(address, client_context(ANY_CERTIFICATE), is_shaken=True):
            return ""
        return (
            f"the {role} at {address} takes connections with TLS only; ?tls=any or"
            " ?tls=CA.pem states it"
        )
    error = _tls_error(address, tls)
    return f"no TLS with the {role} at {address}: {error}" if error else ""


def _tls_error(
    address: Address, tls: ssl.SSLContext, *, is_shaken: bool = False
) -> str:
    """Return the error of a connection with TLS, without a request; empty if it stays.

    A server refuses a client's certificate after the handshake, and the refusal can be
    lost behind a request. With *is_shaken* only the handshake counts.
    """
    try:
        with _connected(address, tls, PATIENCE_S) as connection:
            if is_shaken:
                return ""
            connection.settimeout(REFUSAL_S)
            with suppress(TimeoutError):
                if not connection.recv(1):
                    return "it closes the connection, as without tlsCert and tlsKey"
    except OSError as error:
        return str(error)
    return ""


def is_silent(
    address: Address,
    tls: ssl.SSLContext | None = None,
    *,
    patience_s: float = PATIENCE_S,
) -> bool:
    """Return whether the server at *address* accepts connections and sends nothing.

    A server that responds to any request, or closes a connection, is not silent.
    """
    with ExitStack() as stack:
        try:
            connections = [
                stack.enter_context(_connected(address, tls, patience_s))
                for _ in _REQUESTS
            ]
            for connection, data in zip(connections, _REQUESTS.values(), strict=True):
                connection.sendall(data)
        except OSError:
            return False
        return not select.select(connections, [], [], patience_s)[0]


def _connected(
    address: Address, tls: ssl.SSLContext | None, patience_s: float
) -> socket.socket:
    """Return a connection to *address*, whose operations take at most *patience_s*."""
    connection = socket.create_connection(address, patience_s)
    if tls is None:
        return connection
    return tls.wrap_socket(connection, server_hostname=address.host)


def _problem_of(server: Server, patience_s: float) -> str:
    """Return why *server* is not healthy; empty if it responds."""
    name = f"the {server.role} at {server.address}"
    try:
        connection = _connected(server.address, server.tls, patience_s)
    except OSError as error:
        return f"{name} accepts no connection: {error}"
    with connection:
        connection.settimeout(patience_s)
        try:
            connection.sendall(_REQUESTS[server.role])
            received = connection.recv(SIZE_WORD)
        except TimeoutError:
            return f"{name} does not respond within {patience_s:g} s"
        except OSError as error:
            return f"{name} resets each connection: {error}"
    return "" if received else f"{name} closes each connection"
