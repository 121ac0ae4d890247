"""Fixtures of the suite about TLS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.client.certificates import server_settings
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.targets.target import Capability, Target
from conformance.tls.tls_servers import Served, Servers


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config, target: Target) -> Iterator[Servers]:
    """Yield the targets of this run by their properties."""
    need(target, Capability.RESTART, Capability.TLS)
    made = Servers(pytestconfig)
    yield made
    made.close()


@pytest.fixture
def permissive(servers: Servers) -> Served:
    """Return a target with the certificate of the suite, in the mode permissive."""
    return servers.with_settings(server_settings())
