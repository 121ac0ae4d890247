"""Fixtures of the routing suite: the stage on which fake brokers appear."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.harness.target import Target
from conformance.routing.fake_broker import Stage


@pytest.fixture
def stage(target: Target, unique: Callable[[str], str]) -> Iterator[Stage]:
    """Return a stage at the target's name server, swept when the test ends."""
    assert target.namesrv is not None
    with Stage(target.namesrv, unique) as opened:
        yield opened
