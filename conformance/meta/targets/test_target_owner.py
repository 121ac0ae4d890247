"""The owner of a run's target, in a run and in forks of its process."""

from __future__ import annotations

import copy
from unittest import mock

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.exchanges import sent_codes
from conformance.harness.pytest_plugin import plugin
from conformance.harness.pytest_plugin.fixtures import TARGET_OWNER
from conformance.harness.targets.shared_target import TargetOwner
from conformance.harness.targets.target import TargetError
from conformance.meta.peers.hostile_peer import Habit, HostilePeer


def test_a_fork_leaves_the_target_to_its_parent() -> None:
    parent = TargetOwner("embedded:", profile=None)
    try:
        address = parent.target().broker
        fork = copy.copy(parent)
        fork.leave()
        try:
            assert fork.target().broker != address
        finally:
            fork.close()
        assert address is not None
        with Client.connect(address) as client:
            require_success(client.broker_config())
    finally:
        parent.close()


def test_requests_of_a_probe_are_not_of_the_test_that_starts_the_target() -> None:
    with HostilePeer(Habit.REFUSES_SENDS).server as server:
        owner = TargetOwner(str(server.address), profile="4.6")
        CONVERSATIONS.begin()
        try:
            assert owner.target().is_foreign
            assert sent_codes(CONVERSATIONS.transcripts()) == set()
        finally:
            owner.close()


def test_all_resources_of_a_run_end_where_the_end_of_its_target_fails() -> None:
    config = mock.Mock(stash=pytest.Stash())
    owner, breaks, servers = mock.Mock(), mock.Mock(), mock.Mock()
    owner.close.side_effect = TargetError("it does not end")
    config.stash[TARGET_OWNER] = owner
    config.stash[plugin.BREAKS] = breaks
    config.stash[plugin.FORK_SERVERS] = servers
    with pytest.raises(TargetError):
        plugin.pytest_unconfigure(config)
    for one in (owner, breaks, servers):
        one.close.assert_called_once_with()
