"""Broadcasting consumers: offsets are persisted by each member."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.client.admin_requests import queue_of, status_of, status_response
from conformance.client.application import Application, Consumer
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import COMMIT, one_queue, pulls_of
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import PATIENCE_S, is_about
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import unique_name


@pytest.mark.clause("CLIENT-LOCALOFFSET-001")
def test_who_broadcasts_goes_on_where_it_was(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
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
    expect("CLIENT-LOCALOFFSET-001", found=found, expected=[b"2"], what="bodies")
    commits = [one for one in broker.requests(COMMIT) if is_about(topic, one)]
    expect("CLIENT-LOCALOFFSET-001", found=len(commits), expected=0, what="commits")


def wait_until_handled(
    consumer: Consumer, broker: ScriptedBroker, topic: str, count: int
) -> None:
    """Return when *consumer* reports *count* handled messages."""
    consumer.wait_for(count)

    def is_handled() -> bool:
        pull = pulls_of(broker, topic)[0]
        offsets = status_of(status_response(pull, topic, consumer.group))
        return offsets.get(queue_of(topic)) == count

    what = f"{count} messages are handled"
    wait_until(is_handled, what=what, timeout_s=PATIENCE_S)
