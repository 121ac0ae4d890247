"""Fixtures of the recovery suite: stores that tests damage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.pytest_plugin.fixtures import another_target, need
from conformance.harness.targets.target import Capability, Target
from conformance.recovery.damaged_files.original import Original, filled
from conformance.recovery.power_cuts.crashed_broker import SETTINGS as CRASH_SETTINGS
from conformance.recovery.power_cuts.crashed_broker import Crashed, crash
from conformance.recovery.small_files import SMALL_FILES


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
    directory: Path = tmp_path_factory.mktemp("recovery")
    with another_target(pytestconfig, SMALL_FILES) as own:
        yield filled(own, directory)


@pytest.fixture(scope="session")
def crashed(
    pytestconfig: pytest.Config,
    target: Target,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Crashed]:
    """Yield a killed broker and its store."""
    need(target, Capability.WIRE, Capability.CONFIG, Capability.STORE, Capability.KILL)
    directory: Path = tmp_path_factory.mktemp("crashed")
    with another_target(pytestconfig, CRASH_SETTINGS) as own:
        yield crash(own, directory)
