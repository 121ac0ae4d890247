"""
Locks of queues until they end, watched from a thread of its own while other tests run.

A client locks two queues, and renews the lock of the second. Another client of the
group tries to lock both until it gets them. On a target with the clock capability, a
target of the suite's own does the same in a tenth of the time.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from conformance.harness.client.client import (
    Client,
    body_of,
    queue_data,
    require_success,
)
from conformance.harness.client.peer_errors import NoResponseError, PeerMisbehavedError
from conformance.harness.pytest_plugin.fixtures import (
    unique_name,
    watched_target,
)

LOCK_TIME_S = 60.0
RENEWAL_S = LOCK_TIME_S * 2 / 3
WATCHED_S = RENEWAL_S + LOCK_TIME_S * 1.25
TICK_S = 0.5
CLOCK_RATE = 10.0
"""Clock rate of a target of our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """Age of a lock when another client got its queue, in seconds.

    The greatest possible age is from the beginning of the holder's last request to the
    response that grants the queue. The least one is from the response to the holder, to
    the beginning of the last request of the other client that was not granted.
    """

    most_s: float
    least_s: float


@dataclass(slots=True, kw_only=True)
class LockExpiry:
    """Ends of two locks; None if another client did not get the queue."""

    once: Ages | None = None
    """Age of the lock that was requested once."""
    renewed: Ages | None = None
    """Age of the lock that was renewed."""


@dataclass(slots=True)
class _Queue:
    """One queue, locked by its holder at some time."""

    group: str
    data: dict[str, object]
    began_s: float = 0.0
    ended_s: float = 0.0
    refused_s: float = 0.0
    """Begin of another client's last request that did not get the queue."""
    unanswered: NoResponseError | None = None
    """Error of the last request of another client, where no response came."""

    def lock(self, broker: Client) -> None:
        """Lock the queue for its holder."""
        self.began_s = time.monotonic()
        if not self.is_got(broker, "holder"):
            reason = "a client does not get a queue that nobody has locked"
            raise PeerMisbehavedError(reason, broker.transcript)
        self.ended_s = self.refused_s = time.monotonic()

    def is_got(self, broker: Client, client_id: str) -> bool:
        """Return whether *client_id* holds the queue after a request to lock it."""
        response = broker.lock_queues(
            group=self.group, client_id=client_id, queues=[self.data]
        )
        found = body_of(require_success(response))
        return isinstance(found, dict) and self.data in (found.get("lockOKMQSet") or [])

    def ages(self, broker: Client, rate: float) -> Ages | None:
        """Return the ages of the holder's lock if another client gets the queue.

        A busy broker may respond too late: the next request finds out instead.
        """
        began_s = time.monotonic()
        try:
            is_got = self.is_got(broker, "other")
        except NoResponseError as error:
            self.unanswered = error
            return None
        self.unanswered = None
        if not is_got:
            self.refused_s = began_s
            return None
        most_s = (time.monotonic() - self.began_s) * rate
        return Ages(most_s=most_s, least_s=(self.refused_s - self.ended_s) * rate)


def watch(config: pytest.Config, ending: threading.Event) -> LockExpiry:
    """Lock two queues, and return the ends of the locks."""
    with (
        watched_target(config, CLOCK_RATE) as (target, rate),
        target.connect_to_broker() as broker,
    ):
        return _look(target.broker_name, broker, ending, rate)


def _look(
    broker_name: str, broker: Client, ending: threading.Event, rate: float
) -> LockExpiry:
    group, topic = unique_name("group"), unique_name("locked")
    once, renewed = (
        _Queue(group, queue_data(topic=topic, broker_name=broker_name, queue_id=number))
        for number in range(2)
    )
    for queue in (once, renewed):
        queue.lock(broker)
    seen, began_s, is_renewed = LockExpiry(), time.monotonic(), False
    while (now_s := (time.monotonic() - began_s) * rate) < WATCHED_S:
        if seen.once is not None and seen.renewed is not None:
            break
        if ending.wait(TICK_S / rate):
            raise TimeoutError("the run ended before the locks did")
        if not is_renewed and now_s >= RENEWAL_S:
            renewed.lock(broker)
            is_renewed = True
        seen.once = seen.once or once.ages(broker, rate)
        if is_renewed:
            seen.renewed = seen.renewed or renewed.ages(broker, rate)
    for queue in (once, renewed):
        if queue.unanswered is not None:
            raise queue.unanswered
    return seen
