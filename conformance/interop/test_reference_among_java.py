"""
The reference's clients among Java's: they read one another's messages, in one group.

Members of a group agree about queues only by using the same rule on the same sorted
lists; a member that reckons otherwise leaves queues unread, or reads some twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.deadline import wait_until
from conformance.harness.target import Target, parse_target
from conformance.interop.java_client import JavaClient
from conformance.interop.java_gateway import java_gateway
from conformance.interop.java_listeners import Received
from conformance.interop.java_session import JavaSession, keep_all
from conformance.interop.own_client import OwnClients, lines_of

RELEASES = ("4.6.0", "5.3.3")
LARGE = "large" * 2000


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """Yield the reference broker."""
    with parse_target("embedded:") as started:
        yield started


@pytest.fixture(params=RELEASES)
def java(
    request: pytest.FixtureRequest, target: Target, tmp_path: Path
) -> Iterator[JavaSession]:
    """Yield Java clients of a release."""
    assert target.namesrv is not None
    home = tmp_path / "java"
    home.mkdir()
    client = JavaClient(release=request.param, namesrv=target.namesrv, directory=home)
    with java_gateway(client) as gateway:
        session = JavaSession(gateway=gateway, target=target, release=request.param)
        try:
            yield session
        finally:
            session.close()


def test_each_reads_what_the_other_sends_and_both_share_a_group(
    java: JavaSession, target: Target, tmp_path: Path
) -> None:
    own = OwnClients(target, tmp_path)
    topic, group = java.topic(queue_count=5), java.name("both")
    got: list[Received] = []
    theirs = java.push_consumer(group)
    theirs.subscribe(topic, "*")
    java.listen(theirs, keep_all(got))
    ours = own.start("consume", "--from", "first", "-g", group, topic)
    producer = java.producer()
    sent: list[str] = []

    def shared() -> bool:
        """Send to every queue from both sides; say whether both read of that."""
        before = len(got), len(lines_of(ours))
        bodies = [f"{number}-{LARGE}" for number in range(len(sent), len(sent) + 5)]
        sent.extend([*bodies, *(f"ours-{body}" for body in bodies)])
        for number, body in enumerate(bodies):
            producer.send(java.message(topic, body), java.queue(topic, number))
        own.produce(topic, *(f"ours-{body}" for body in bodies))
        wait_until(
            lambda: set(sent) <= {one.body.decode() for one in [*got]} | read(),
            what="everything is read",
            timeout_s=40,
        )
        return len(got) > before[0] and len(lines_of(ours)) > before[1]

    def read() -> set[str]:
        return {line.body for line in lines_of(ours)}

    try:
        wait_until(shared, what="both members read", timeout_s=90)
        count = Counter(line.body for line in lines_of(ours))
        shared()
        late = Counter(line.body for line in lines_of(ours)) - count
        assert late, "the reference reads on"
        assert not set(late) & {one.body.decode() for one in got}, (
            "nothing is read by both"
        )
    finally:
        ours.kill()
