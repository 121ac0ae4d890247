"""
Whether a popped message comes again at all, observed while other tests run.

A broker that returns no message again would let every test wait for one in vain. The
observation waits once. The other tests that need one are blocked by POP-REVIVE-001.

A busy broker may leave a pop without a response, and the message in it is lost to us.
The observation then begins again, with another message over another connection.
"""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.client.peer_errors import NoResponseError
from conformance.harness.process.deadline import TooLateError, comes_true
from conformance.harness.pytest_plugin.background import ended_result_of, result_of
from conformance.harness.pytest_plugin.fixtures import TARGET_OWNER, unique_name
from conformance.harness.targets.target import Target
from conformance.harness.targets.topics import request_group, request_topic
from conformance.messaging.pop.pop_group import AGAIN_S, PopGroup, Revival
from spec.clause import release_key

NAME = "observed_revival"
"""Fixture of the tests that need the observation, and its name."""
INVISIBLE_MS = 2_000
RESPONSE_S = 15.0
"""Seconds after which a pop has no response."""
TRIES_S = (AGAIN_S, AGAIN_S / 2, AGAIN_S / 2)
"""Most seconds until the message of each try is popped again: brokers need 3 to 12.

The tests wait for the result.
"""
FIRST_RELEASE = "5.0"


def allows(target: Target) -> bool:
    """Return whether *target* has a broker that pops."""
    pops = release_key(target.release) >= release_key(FIRST_RELEASE)
    return pops and target.broker is not None


def watch(config: pytest.Config, ending: threading.Event) -> bool:
    """Pop a message, and return whether it is popped again."""
    target = config.stash[TARGET_OWNER].target()
    for most_s in TRIES_S[:-1]:
        with suppress(NoResponseError):
            return comes_again(target, ending, most_s)
    return comes_again(target, ending, TRIES_S[-1])


def comes_again(target: Target, ending: threading.Event, most_s: float) -> bool:
    """Pop a new message, and return whether it is popped again within *most_s*."""
    with target.connect_to_broker() as broker:
        broker.peer.least_timeout_s = RESPONSE_S
        pop_group = PopGroup(
            broker=broker,
            broker_name=target.broker_name,
            topic=unique_name("revival"),
            group=unique_name("group"),
        )
        require_success(request_topic(target, pop_group.topic))
        require_success(request_group(target, pop_group.group))
        pop_group.send([b"popped twice"])
        # The first pop at a broker that has just started may return nothing.
        if not pop_group.pop_in_time(1, queueId=0, invisibleTime=INVISIBLE_MS):
            raise TooLateError("a message is popped", AGAIN_S)
        return comes_true(lambda: ending.is_set() or bool(pop_group.pop()), most_s)


def observed(config: pytest.Config) -> Revival:
    """Return the observation of this run's target, which may still go on."""
    return Revival(
        is_dead=lambda: ended_result_of(config, NAME) is False,
        result=lambda: result_of(config, NAME),
    )
