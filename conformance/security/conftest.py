"""Fixtures of the security suite: brokers with accounts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.fixtures import OPTIONS, need
from conformance.harness.pytest_plugin.target_cache import TargetCache
from conformance.harness.targets.target import Capability, Target
from conformance.security.accounts import ADMIN
from conformance.security.guard import Guard, administered, guarded


@pytest.fixture
def guard(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Guard:
    """Return a broker with the accounts of the suite; no test changes them.

    A running cluster may be one that has users, if the suite may add some.
    """
    may_configure = pytestconfig.stash[OPTIONS].may_configure
    if may_configure and Capability.RESTART not in target.capabilities:
        need(target, Capability.ACL)
        return target_cache.get("guard", lambda: administered(target))
    need(target, Capability.RESTART, Capability.ACL)
    return target_cache.get("guard", lambda: guarded(pytestconfig))


@pytest.fixture
def changing(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Guard:
    """Return a broker whose accounts the tests change; each states its own first."""
    need(target, Capability.RESTART, Capability.ACL)
    return target_cache.get("changing", lambda: guarded(pytestconfig))


@pytest.fixture
def admin(guard: Guard) -> Iterator[Client]:
    """Yield a connection that signs as the administrator."""
    with guard.client(ADMIN) as client:
        yield client
