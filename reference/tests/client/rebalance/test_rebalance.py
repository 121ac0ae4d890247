"""Rebalances that leave a member's queues as they are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reference.core.client.message import MessageQueue
from reference.core.client.rebalance.strategies import allocate_message_queue_averagely
from reference.tests.client.push_peers import PushPeers
from reference.tests.client.routes import route_of
from spec.client.allocation import REBALANCE_PERIOD_MS


class Strategy:
    """An application's strategy, which may fail."""

    error: Exception | None = None

    def __call__(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        """Return the queues, unless it fails."""
        if self.error is not None:
            raise self.error
        return allocate_message_queue_averagely(member, queues, members)


def started(strategy: Strategy) -> PushPeers:
    peers = PushPeers(count=2, allocate_strategy=strategy, from_first=True)
    peers.start()
    assert len(peers.consumer.pull_loop.assigned) == 2
    return peers


def test_a_strategy_that_raises_changes_no_queue() -> None:
    strategy = Strategy()
    peers = started(strategy)
    peers.world.expects_errors = True
    strategy.error = ZeroDivisionError("no room")
    peers.wait(REBALANCE_PERIOD_MS)
    assert len(peers.consumer.pull_loop.assigned) == 2
    assert any("no room" in line for line in peers.world.logged)
    strategy.error = None
    peers.members = ["me", "other"]
    peers.wait(REBALANCE_PERIOD_MS)
    assert len(peers.consumer.pull_loop.assigned) == 1


@pytest.mark.parametrize("members", [[], ["other"]])
def test_only_a_list_of_others_takes_all_queues(members: list[str]) -> None:
    peers = started(Strategy())
    peers.members = members
    peers.wait(REBALANCE_PERIOD_MS)
    assert len(peers.consumer.pull_loop.assigned) == (0 if members else 2)


def test_a_broker_that_does_not_respond_is_not_asked_for_ever() -> None:
    peers = PushPeers(count=1, from_first=True)
    peers.route = route_of("gone", "here", count=1)
    peers.silent = {"gone:10911"}
    peers.start()
    assert not peers.consumer.pull_loop.assigned
    peers.wait(REBALANCE_PERIOD_MS)
    assert len(peers.consumer.pull_loop.assigned) == 2
