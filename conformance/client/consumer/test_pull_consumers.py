"""Consumers that pull when the application does, and get and commit offsets."""

from __future__ import annotations

from functools import partial

import pytest

from conformance.client.application import Application
from conformance.client.calls import CallOutcome, body_of
from conformance.client.consumer.pulls import COLLIDING, COMMIT, PULL, one_queue
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest, is_about
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.harness.targets.client_adapter import Line
from spec.wire.consumer.pull import PullFlag
from spec.wire.remoting.response_code import ResponseCode

FLAGS = PullFlag.COMMIT_OFFSET | PullFlag.SUSPEND | PullFlag.SUBSCRIPTION
STATUSES = {
    ResponseCode.PULL_NOT_FOUND: "NO_NEW_MSG",
    ResponseCode.PULL_RETRY_IMMEDIATELY: "NO_MATCHED_MSG",
    ResponseCode.PULL_OFFSET_MOVED: "OFFSET_ILLEGAL",
}


def queue_of(topic: str) -> Line:
    """Return the one queue of *topic*, as lines name it."""
    return {"topic": topic, "broker": "broker-a", "queue_id": 0}


def result(clause_id: str, outcome: CallOutcome) -> Line:
    """Return the client's report; fail *clause_id* if it failed."""
    expect(clause_id, found=outcome.error_text, expected="", what="error")
    assert outcome.result is not None
    return outcome.result


@pytest.mark.clause("CLIENT-PULL-014", "CLIENT-PULL-002")
def test_a_pull_asks_for_what_the_application_wants(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    for tag in (COLLIDING[0], "C", COLLIDING[1]):
        broker.put(topic, tag.encode(), TAGS=tag)
    consumer = application.pull_consumer()
    given = {"expression": COLLIDING[1], "count": 2}
    received = result(
        "CLIENT-PULL-014", consumer.pull(queue_of(topic), offset=1, **given)
    )
    (request,) = broker.requests(PULL)
    fields = request.command.fields
    expect_fields(
        "CLIENT-PULL-014",
        found={**fields, "flags": int(fields["sysFlag"]) & FLAGS},
        expected={
            "consumerGroup": consumer.group,
            "queueId": "0",
            "queueOffset": "1",
            "maxMsgNums": "2",
            "subscription": COLLIDING[1],
            "flags": PullFlag.SUBSCRIPTION,
        },
    )
    expect(
        "CLIENT-PULL-002",
        found=(
            received["status"],
            received["next_offset"],
            list(map(body_of, received["messages"])),
        ),
        expected=("FOUND", "3", [COLLIDING[1].encode()]),
        what="status, next offset and bodies",
    )


@pytest.mark.clause("CLIENT-PULL-001")
@pytest.mark.parametrize("code", STATUSES)
def test_the_application_is_told_what_a_pull_led_to(
    application: Application, cluster: ScriptedCluster, topic: str, code: int
) -> None:
    broker = one_queue(cluster, topic)

    def respond(request: ReceivedRequest) -> None:
        broker.respond_to_pull(request, code, next_offset=17)

    broker.on(PULL, respond)
    outcome = application.pull_consumer().pull(queue_of(topic), offset=5)
    received = result("CLIENT-PULL-001", outcome)
    expect(
        "CLIENT-PULL-001",
        found=(received["status"], received["next_offset"], received["messages"]),
        expected=(STATUSES[ResponseCode(code)], "17", []),
        what="status, next offset and messages",
    )


@pytest.mark.clause("CLIENT-PULL-001")
def test_a_pull_that_is_refused_is_an_error(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    refused = ResponseCode.NO_PERMISSION
    broker.on(PULL, partial(_refuse, refused))
    outcome = application.pull_consumer().pull(queue_of(topic), offset=0)
    expect("CLIENT-PULL-001", found=outcome.word, expected=refused, what="code")


def _refuse(code: int, request: ReceivedRequest) -> None:
    request.respond(code, remark="no")


@pytest.mark.clause("CLIENT-COMMIT-001")
def test_an_offset_is_told_and_found_again(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    consumer = application.pull_consumer()
    request = {"queue": queue_of(topic)}

    def committed() -> object:
        found = consumer.invoke("offset", **request, which="committed")
        return result("CLIENT-COMMIT-001", found)["offset"]

    result("CLIENT-COMMIT-001", consumer.invoke("commit", **request, offset="3"))
    received = _commit(broker, topic).command
    expect("CLIENT-COMMIT-001", found=received.is_oneway, expected=True, what="oneway")
    expect("CLIENT-COMMIT-001", found=committed(), expected="3", what="offset")


def _commit(broker: ScriptedBroker, topic: str) -> ReceivedRequest:
    where = partial(is_about, topic)
    return broker.wait_for(COMMIT, where=where)[0]
