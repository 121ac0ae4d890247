"""What tests of messages share: a known group, and a broker that may be changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.fixtures import OPTIONS, need
from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import Capability, Target, parse_target

LARGEST_MESSAGE = 65_536


@pytest.fixture
def known_group(broker: Speaker, group: str) -> str:
    """Return the name of a new group; 5.3 commits offsets only of such."""
    succeeded(broker.update_group(group=group))
    return group


@pytest.fixture(scope="session")
def obedient(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Return a target whose settings tests may change; its largest message is small.

    Each test puts back what it changed. TBW102 may be closed there.
    """
    need(target, Capability.WIRE, Capability.CONFIG)
    options = pytestconfig.stash[OPTIONS]
    conf = {"maxMessageSize": str(LARGEST_MESSAGE)}
    with parse_target(options.target, profile=options.profile, conf=conf) as own:
        yield own
