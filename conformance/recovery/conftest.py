"""Fixtures of the recovery suite: the original of a store that tests damage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.fixtures import OPTIONS, need
from conformance.harness.target import Capability, Target, parse_target
from conformance.recovery.original import Original, filled
from conformance.recovery.small import SMALL_FILES


@pytest.fixture(scope="session")
def original(
    pytestconfig: pytest.Config,
    target: Target,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Original]:
    """Yield a store whose history is known, and the stopped broker that wrote it."""
    need(
        target,
        Capability.WIRE,
        Capability.CONFIG,
        Capability.STORE,
        Capability.RESTART,
        Capability.KILL,
    )
    options = pytestconfig.stash[OPTIONS]
    directory: Path = tmp_path_factory.mktemp("recovery")
    with parse_target(options.target, profile=options.profile, conf=SMALL_FILES) as own:
        yield filled(own, directory)
