"""How a member of a broadcasting group keeps how far it has come."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.client.application import Application, Consumer, body_of
from conformance.client.broker import Broker
from conformance.client.player import PATIENCE_S
from conformance.client.questions import queue_of, status_answer, status_of
from conformance.client.stage import Stage
from conformance.client.test_handling import COMMIT
from conformance.client.test_pulling import of, one_queue, pulls_of
from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import unique_name
from conformance.harness.verdicts import expect


@pytest.mark.clause("CLIENT-LOCAL-001")
def test_who_broadcasts_goes_on_where_it_was(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = one_queue(stage, topic)
    given: dict[str, Any] = {
        "group": unique_name("group"),
        "model": "broadcasting",
        "options": {"instance_name": unique_name("instance")},
    }
    broker.put(topic, b"0")
    broker.put(topic, b"1")
    before = application.consumer(topic, **given)
    wait_until_handled(before, broker, topic, 2)
    before.stop()
    broker.put(topic, b"2")
    found = [body_of(one) for one in application.consumer(topic, **given).wait_for()]
    expect("CLIENT-LOCAL-001", found=found, expected=[b"2"], what="bodies")
    commits = [one for one in broker.requests(COMMIT) if of(topic, one)]
    expect("CLIENT-LOCAL-001", found=len(commits), expected=0, what="commits")


def wait_until_handled(
    consumer: Consumer, broker: Broker, topic: str, count: int
) -> None:
    """Return when *consumer* says that it has handled *count* messages."""
    consumer.wait_for(count)

    def is_handled() -> bool:
        pull = pulls_of(broker, topic)[0]
        offsets = status_of(status_answer(pull, topic, consumer.group))
        return offsets.get(queue_of(topic)) == count

    what = f"{count} messages are handled"
    wait_until(is_handled, what=what, timeout_s=PATIENCE_S)
