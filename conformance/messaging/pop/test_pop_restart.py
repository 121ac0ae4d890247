"""Popped messages after a kill, an orderly stop, and a change of the retry topic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_group,
    create_topic,
    unique_name,
)
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.pop.pop_group import PopGroup, Revival, bodies
from conformance.messaging.stored_messages import topic_of
from spec.wire.pop.pop_receipt import TopicKind

pytestmark = pytest.mark.long

SHORT_MS = 2_000
NEVER_MS = 600_000
"""Invisible time that no test waits for."""
SENT = [b"first", b"second", b"third"]
RETRY_V2 = {"enableRetryTopicV2": "true"}


@contextmanager
def popping(
    target: Target, revival: Revival, former: PopGroup | None = None
) -> Iterator[PopGroup]:
    """Yield a new group that pops a new topic of *target*, or *former*, reconnected."""
    with target.connect_to_broker() as broker:
        if former is not None:
            yield replace(former, broker=broker)
            return
        yield PopGroup(
            broker=broker,
            broker_name=target.broker_name,
            topic=create_topic(target, unique_name("popped")),
            group=create_group(target, unique_name("group")),
            revival=revival,
        )


@pytest.mark.clause("POP-REVIVE-005")
@pytest.mark.needs("kill")
def test_popped_messages_come_again_after_a_kill(
    own_target: Target, observed_revival: Revival
) -> None:
    with popping(own_target, observed_revival) as before:
        before.send(SENT)
        popped = bodies(before.pop(queueId=0, invisibleTime=SHORT_MS))
        expect(
            "POP-REVIVE-005",
            found=popped,
            expected=SENT,
            what="popped before",
            transcript=before.broker.transcript,
        )
        own_target.kill()
    own_target.start()
    with popping(own_target, observed_revival, before) as after:
        again = set(bodies(after.pop_revived(len(SENT))))
        expect(
            "POP-REVIVE-005",
            found=again,
            expected=set(SENT),
            what="popped again",
            transcript=after.broker.transcript,
        )


@pytest.mark.clause("POP-REVIVE-006", "POP-HIDE-003")
def test_acknowledgements_and_invisible_times_survive_a_stop(
    own_target: Target, observed_revival: Revival
) -> None:
    with popping(own_target, observed_revival) as before:
        before.send(SENT)
        first = before.pop(queueId=0, invisibleTime=SHORT_MS, maxMsgNums=2)
        before.pop(queueId=0, invisibleTime=NEVER_MS)
        require_success(before.acknowledge(first[0]))
    own_target.restart()
    with popping(own_target, observed_revival, before) as after:
        again = bodies([*after.pop_revived(1), *after.pop()])
        expect(
            "POP-REVIVE-006",
            found=[body for body in again if body != SENT[2]],
            expected=[SENT[1]],
            what="popped after the start, of two of which the first is acknowledged",
            transcript=after.broker.transcript,
        )
        expect(
            "POP-HIDE-003",
            found=[body for body in again if body == SENT[2]],
            expected=[],
            what="popped after the start, with an invisible time that has not ended",
            transcript=after.broker.transcript,
        )


@pytest.mark.clause("POP-REVIVE-007")
@pytest.mark.needs(Capability.CONFIG)
def test_messages_come_again_in_the_retry_topic_v2(
    start_target: TargetStarter, observed_revival: Revival
) -> None:
    target = start_target(RETRY_V2)
    with popping(target, observed_revival) as pop_group:
        pop_group.send(SENT[:1])
        pop_group.pop(queueId=0, invisibleTime=SHORT_MS)
        again = pop_group.pop_again(1, invisibleTime=SHORT_MS)[0]
        expect_fields(
            "POP-REVIVE-007",
            found={
                "kind": again.receipt.topic_kind,
                "topic": again.record.topic,
                "body": again.record.body,
            },
            expected={
                "kind": TopicKind.RETRY_V2.value,
                "topic": pop_group.topic,
                "body": SENT[0],
            },
            transcript=pop_group.broker.transcript,
        )
        retry = topic_of(pop_group.broker, pop_group.topic_of_kind(TopicKind.RETRY_V2))
        expect(
            "POP-REVIVE-007",
            found=retry.read_queue_count,
            expected=1,
            what="queues of the retry topic",
            transcript=pop_group.broker.transcript,
        )
        require_success(pop_group.acknowledge(again))


@pytest.mark.clause("POP-REVIVE-008")
@pytest.mark.needs(Capability.CONFIG)
def test_messages_of_the_old_retry_topic_are_popped_with_v2(
    start_target: TargetStarter, observed_revival: Revival
) -> None:
    old = start_target({})
    with popping(old, observed_revival) as before:
        before.send(SENT[:1])
        before.pop(queueId=0, invisibleTime=SHORT_MS)
        again = before.pop_again(1, invisibleTime=SHORT_MS)
        expect(
            "POP-REVIVE-008",
            found=bodies(again),
            expected=SENT[:1],
            what="V1",
            transcript=before.broker.transcript,
        )
        own_kind = again[0].receipt.topic_kind
    old.conf.update(RETRY_V2)
    old.restart()
    with popping(old, observed_revival, before) as after:
        again = after.pop_revived(1)
        expect(
            "POP-REVIVE-008",
            found=(own_kind, bodies(again)),
            expected=(TopicKind.RETRY.value, SENT[:1]),
            what="topic kind before, and bodies after the change",
            transcript=after.broker.transcript,
        )
