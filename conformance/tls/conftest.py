"""Fixtures of the suite about TLS."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.access import ANY_CERTIFICATE, Access, client_context
from conformance.harness.client.certificates import server_settings
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.pytest_plugin.target_cache import TargetCache
from conformance.harness.targets.target import Capability, Target
from conformance.tls.tls_servers import Served, Servers


@pytest.fixture
def servers(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Servers:
    """Return the targets of this run by their properties."""
    need(target, Capability.RESTART, Capability.TLS)
    return Servers(pytestconfig, target_cache)


@pytest.fixture
def permissive(servers: Servers) -> Served:
    """Return a target with the certificate of the suite, in the mode permissive."""
    return servers.with_settings(server_settings())


@pytest.fixture
def encrypted(request: pytest.FixtureRequest, target: Target) -> Served:
    """Return a target that encrypts: one of the suite's own, or a running one."""
    if Capability.RESTART in target.capabilities or target.broker is None:
        own = request.getfixturevalue("permissive")
        assert isinstance(own, Served)
        return own
    context = client_context(ANY_CERTIFICATE)
    access = Access(credentials=target.access.credentials, tls=context)
    served = Served(target=target, encrypted=access)
    if not served.admits(access):
        unsupported("the broker's port serves no connection with TLS")
    return served
