"""The owner of a run's target, in a run and in forks of its process."""

from __future__ import annotations

import copy

from conformance.harness.client.client import Client, require_success
from conformance.harness.targets.shared_target import TargetOwner


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
