"""Started targets by their TLS settings, and the connections that they admit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TypeAlias

import pytest

from conformance.harness.client.access import ANY_CERTIFICATE, OPEN, Access
from conformance.harness.client.address import Address
from conformance.harness.client.certificates import over_tls
from conformance.harness.client.client import Client
from conformance.harness.client.peer import (
    CONNECT_TIMEOUT_S,
    ClosedError,
    PeerError,
    open_socket,
)
from conformance.harness.pytest_plugin.fixtures import another_target
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.harness.targets.target import Target
from spec.security import tls
from spec.wire.remoting.response_code import ResponseCode

Settings: TypeAlias = Mapping[str, str]

KEPT = 2
"""Targets that run at a time. Each is two JVMs, and most settings have one test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Name server and broker of a target, and the access of encrypted clients."""

    target: Target
    encrypted: Access = field(default_factory=over_tls)

    @property
    def servers(self) -> dict[str, Address]:
        """Addresses of name server and broker, by name."""
        assert self.target.namesrv is not None
        assert self.target.broker is not None
        return {"name server": self.target.namesrv, "broker": self.target.broker}

    @contextlib.contextmanager
    def client(self, access: Access = OPEN) -> Iterator[Client]:
        """Yield a new connection to the broker."""
        broker = self.servers["broker"]
        with Client.connect(broker, self.target.release, access) as connected:
            yield connected

    def admits(self, access: Access, server: str = "broker") -> bool:
        """Return whether a request over a new connection gets a response.

        False is a connection that the server closes, in the handshake or before the
        response. A server without any reaction is an error of the test.
        """
        try:
            release = self.target.release
            with Client.connect(self.servers[server], release, access) as client:
                if server == "broker":
                    answer = client.max_offset(topic="TBW102")
                else:
                    answer = client.cluster_info()
        except (PeerError, ClosedError) as error:
            if isinstance(error.__cause__, TimeoutError):
                raise  # lateness of a busy machine is no refusal
            return False
        assert answer.code == ResponseCode.SUCCESS, answer
        return True

    def presented(self) -> bytes:
        """Return the certificate that the broker presents, in DER."""
        access = over_tls(authority=ANY_CERTIFICATE)
        with open_socket(self.servers["broker"], access) as link:
            link.settimeout(CONNECT_TIMEOUT_S)
            found = link.getpeercert(binary_form=True)  # type: ignore[attr-defined]
            assert isinstance(found, bytes)
            return found


class Servers:
    """Started targets of a run by their properties, the latest `KEPT` of them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started: dict[tuple[tuple[str, str], ...], tuple[Served, ExitStack]] = {}

    def with_settings(self, settings: Settings) -> Served:
        """Return the target with *settings*, started unless it still runs.

        It runs until *KEPT* others have been used.
        """
        key = tuple(sorted(settings.items()))
        used = self._started.pop(key, None) or self._start(settings)
        self._started[key] = used  # the latest is the last
        return used[0]

    def close(self) -> None:
        """End all targets."""
        while self._started:
            self._end_first()

    def _start(self, settings: Settings) -> tuple[Served, ExitStack]:
        while len(self._started) >= KEPT:
            self._end_first()
        end = ExitStack()
        return end.enter_context(serving(self._config, settings)), end

    def _end_first(self) -> None:
        _, end = self._started.pop(next(iter(self._started)))
        end.close()


@contextlib.contextmanager
def serving(config: pytest.Config, settings: Settings) -> Iterator[Served]:
    """Yield a started target with *settings* and a name server of its own."""
    own = another_target(config, settings, own_name_server=True)
    assert isinstance(own, StartedTarget)
    if settings.get(tls.MODE) == tls.ENFORCING:
        own.access = over_tls(authority=ANY_CERTIFICATE)
    with own:
        yield Served(target=own)
