"""Started targets by their TLS settings, and the connections that they admit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import pytest

from conformance.harness.client.access import ANY_CERTIFICATE, OPEN, Access
from conformance.harness.client.address import Address
from conformance.harness.client.certificates import over_tls
from conformance.harness.client.client import Client
from conformance.harness.client.frame_socket import CONNECT_TIMEOUT_S, open_socket
from conformance.harness.client.peer_errors import ClosedError, PeerError
from conformance.harness.pytest_plugin.fixtures import another_target
from conformance.harness.pytest_plugin.target_cache import TargetCache
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.harness.targets.target import Target
from spec.security import tls
from spec.wire.remoting.response_code import ResponseCode

Settings: TypeAlias = Mapping[str, str]


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
                    response = client.max_offset(topic="TBW102")
                else:
                    response = client.cluster_info()
        except (PeerError, ClosedError) as error:
            if isinstance(error.__cause__, TimeoutError):
                raise  # lateness of a busy machine is no refusal
            return False
        assert response.code == ResponseCode.SUCCESS, response
        return True

    def presented(self) -> bytes:
        """Return the certificate that the broker presents, in DER."""
        access = over_tls(authority=ANY_CERTIFICATE)
        with open_socket(self.servers["broker"], access) as link:
            link.settimeout(CONNECT_TIMEOUT_S)
            found = link.getpeercert(binary_form=True)  # type: ignore[attr-defined]
            assert isinstance(found, bytes)
            return found


@dataclass(frozen=True, slots=True)
class Servers:
    """Started targets by their properties."""

    config: pytest.Config
    target_cache: TargetCache

    def with_settings(self, settings: Settings) -> Served:
        """Return the target with *settings*, started unless it still runs.

        Its name server has the same settings.
        """
        return self._kept(settings, own_name_server=True)

    def broker_with_settings(self, settings: Settings) -> Served:
        """Return a target whose broker has *settings*; its name server has no TLS."""
        return self._kept(settings, own_name_server=False)

    def _kept(self, settings: Settings, *, own_name_server: bool) -> Served:
        name = "tls", own_name_server, *sorted(settings.items())
        started = partial(
            serving, self.config, settings, own_name_server=own_name_server
        )
        return self.target_cache.get(name, started)


@contextlib.contextmanager
def serving(
    config: pytest.Config, settings: Settings, *, own_name_server: bool
) -> Iterator[Served]:
    """Yield a started target with *settings*, also for an *own_name_server*."""
    own = another_target(config, settings, own_name_server=own_name_server)
    assert isinstance(own, StartedTarget)
    if settings.get(tls.MODE) == tls.ENFORCING:
        own.access = over_tls(authority=ANY_CERTIFICATE)
    with own:
        yield Served(target=own)
