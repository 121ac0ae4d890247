"""
The reference's clients and Java's read each other's messages, in one group.

Members of a group agree about queues only by using the same strategy on the same sorted
lists. A member with another result leaves queues unread, or reads some twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.programs.rmqc_clients import RmqcClients, lines_of
from conformance.interop.programs.run import adapter_command
from conformance.interop.programs.session import ClientSession, body_of, open_session

RELEASES = ("4.6.0", "5.3.3")
QUEUE_COUNT = 5
LARGE = "large" * 2000


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """Yield the reference broker."""
    with parse_target("embedded:") as started:
        yield started


@pytest.fixture(params=RELEASES)
def java(request: pytest.FixtureRequest, target: Target) -> Iterator[ClientSession]:
    """Yield Java clients of a release."""
    with open_session(target, adapter_command(f"Java {request.param}")) as session:
        yield session
        session.close()


def test_each_reads_what_the_other_sends_and_both_share_a_group(
    java: ClientSession, target: Target, tmp_path: Path
) -> None:
    own = RmqcClients(target, tmp_path)
    topic, group = java.topic(queue_count=QUEUE_COUNT), java.name("both")
    theirs = java.push_consumer(topic, group=group)
    ours = own.start("consume", "--from", "first", "-g", group, topic)
    producer = java.producer()
    sent: list[str] = []

    def shared() -> bool:
        """Send to every queue from both sides; return whether both have read."""
        before = len(java.got(theirs)), len(lines_of(ours))
        bodies = [f"{number}-{LARGE}" for number in range(len(sent), len(sent) + 5)]
        sent.extend([*bodies, *(f"ours-{body}" for body in bodies)])
        for number, body in enumerate(bodies):
            java.send(producer, topic, body, more={"select": number})
        own.produce(topic, *(f"ours-{body}" for body in bodies))
        wait_until(
            lambda: set(sent) <= received() | read(),
            what="everything is read",
            timeout_s=40,
        )
        return len(java.got(theirs)) > before[0] and len(lines_of(ours)) > before[1]

    def received() -> set[str]:
        return {body_of(one).decode() for one in java.got(theirs)}

    def read() -> set[str]:
        return {line.body for line in lines_of(ours)}

    try:
        wait_until(shared, what="both members read", timeout_s=90)
        wait_until(
            lambda: (
                sorted(chain.from_iterable(java.shares(group, topic)))
                == list(range(QUEUE_COUNT))
            ),
            what="every queue has one member",
            timeout_s=90,
        )
        shared()  # each member has now read repeated messages of its new queues
        count = Counter(line.body for line in lines_of(ours))
        shared()
        late = Counter(line.body for line in lines_of(ours)) - count
        assert late, "the reference reads on"
        assert not set(late) & received(), "nothing is read by both"
    finally:
        ours.kill()
