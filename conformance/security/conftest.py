"""Fixtures of the security suite: brokers with accounts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.fixtures import OPTIONS, need
from conformance.harness.targets.target import Capability, Target
from conformance.security.accounts import ADMIN
from conformance.security.guard import Guard, administered, guarded


@pytest.fixture(scope="session")
def guard(pytestconfig: pytest.Config, target: Target) -> Iterator[Guard]:
    """Yield a broker with the accounts of the suite; no test changes them.

    A running cluster may be one that has users, if the suite may add some.
    """
    may_configure = pytestconfig.stash[OPTIONS].may_configure
    if may_configure and Capability.RESTART not in target.capabilities:
        need(target, Capability.ACL)
        with administered(target) as found:
            yield found
        return
    need(target, Capability.RESTART, Capability.ACL)
    with guarded(pytestconfig) as started:
        yield started


@pytest.fixture(scope="session")
def changing(pytestconfig: pytest.Config, target: Target) -> Iterator[Guard]:
    """Yield a broker whose accounts the tests change; each states its own first."""
    need(target, Capability.RESTART, Capability.ACL)
    with guarded(pytestconfig) as started:
        yield started


@pytest.fixture
def admin(guard: Guard) -> Iterator[Client]:
    """Yield a connection that signs as the administrator."""
    with guard.client(ADMIN) as client:
        yield client
