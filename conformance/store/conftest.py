"""Fixtures of the store suite: a store whose history is known, or any store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.fixtures import OPTIONS, need
from conformance.harness.store_files import StoreFiles
from conformance.harness.target import Capability, Target, parse_target
from conformance.store.special import SETTINGS, Special, write_special
from conformance.store.written import SMALL_FILES, Written, write


@pytest.fixture(scope="session")
def written(pytestconfig: pytest.Config, target: Target) -> Iterator[Written]:
    """Return a target of the suite's own, with small files and a known history."""
    need(target, Capability.WIRE, Capability.CONFIG, Capability.STORE)
    options = pytestconfig.stash[OPTIONS]
    with parse_target(options.target, profile=options.profile, conf=SMALL_FILES) as own:
        yield write(own)


@pytest.fixture
def files(target: Target, request: pytest.FixtureRequest) -> StoreFiles:
    """Return the files of the store that is examined: the one given, else our own."""
    need(target, Capability.STORE)
    if Capability.WIRE not in target.capabilities:
        assert target.store_path is not None
        return StoreFiles(target.store_path)
    own = request.getfixturevalue("written")
    assert isinstance(own, Written)
    return own.files


@pytest.fixture(scope="session")
def special(pytestconfig: pytest.Config, target: Target) -> Iterator[Special]:
    """Return the store of a target told to write what it does not by default."""
    need(target, Capability.WIRE, Capability.CONFIG, Capability.STORE)
    options = pytestconfig.stash[OPTIONS]
    with parse_target(options.target, profile=options.profile, conf=SETTINGS) as own:
        yield write_special(own)
