"""Messages that a push consumer could not handle and no broker takes back."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import BACK, COMMIT, first_commit, one_queue
from conformance.client.producer.sends import meet_sends
from conformance.client.scripted.scripted_broker import ScriptedBroker, header_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import (
    ReceivedRequest,
    is_about,
    responding,
)
from conformance.client.timing import CLOCKS_MS, SLOW_S, SOON_MS
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

AFTER_KEPT_MS = 5_000


@pytest.fixture
def group() -> str:
    """Return the name of a group that no other test uses."""
    return unique_name("group")


@pytest.fixture
def forgetful(cluster: ScriptedCluster, topic: str, group: str) -> ScriptedBroker:
    """Return a broker that takes nothing back, and has a message of the topic."""
    broker = one_queue(cluster, topic)
    cluster.route(f"%RETRY%{group}", {"broker-a": 1})
    broker.on(BACK, responding(ResponseCode.SYSTEM_ERROR, remark="it is gone"))
    broker.put(topic, b"bad", KEYS="k")
    return broker


def commits_past_it(broker: ScriptedBroker, topic: str) -> list[int]:
    """Return the offsets behind the first message that were committed so far."""
    found = [one for one in broker.requests(COMMIT) if is_about(topic, one)]
    offsets = {int(one.command.fields["commitOffset"]) for one in found}
    return sorted(offset for offset in offsets if offset > 0)


def sent_to_retry_topic(
    application: Application, broker: ScriptedBroker, topic: str, group: str
) -> list[ReceivedRequest]:
    """Return the requests of a consumer that cannot send a message back."""
    options = {"persist_ms": SOON_MS}
    application.consumer(topic, group=group, outcomes={"k": ["later"]}, options=options)
    broker.wait_until(
        lambda: bool(broker.sends or commits_past_it(broker, topic)),
        what="the message is sent, or committed without that",
    )
    return broker.sends


@pytest.mark.clause("CLIENT-SENDBACK-003")
def test_a_message_that_is_not_taken_back_is_sent_to_the_retry_topic(
    application: Application, forgetful: ScriptedBroker, topic: str, group: str
) -> None:
    sends = sent_to_retry_topic(application, forgetful, topic, group)
    found = [(header_of(one)["topic"], one.command.body) for one in sends]
    expect(
        "CLIENT-SENDBACK-003",
        found=found,
        expected=[(f"%RETRY%{group}", b"bad")],
        what="topics and bodies",
    )
    expect_fields(
        "CLIENT-SENDBACK-003",
        found=decode_properties(header_of(sends[0])["properties"]),
        expected={"RETRY_TOPIC": topic, "DELAY": "3", "KEYS": "k"},
    )


@pytest.mark.clause("CLIENT-SEND-008")
def test_the_counts_of_a_message_for_the_retry_topic_are_in_the_header_too(
    application: Application, forgetful: ScriptedBroker, topic: str, group: str
) -> None:
    sends = sent_to_retry_topic(application, forgetful, topic, group)
    expect("CLIENT-SEND-008", found=len(sends), expected=1, what="messages sent anew")
    header = header_of(sends[0])
    properties = decode_properties(header["properties"])
    expect(
        "CLIENT-SEND-008",
        found=properties.get("RECONSUME_TIME"),
        expected="1",
        what="RECONSUME_TIME",
    )
    expect_fields(
        "CLIENT-SEND-008",
        found=header,
        expected={
            "reconsumeTimes": "1",
            "maxReconsumeTimes": properties.get("MAX_RECONSUME_TIMES"),
        },
    )


@pytest.mark.clause("CLIENT-SENDBACK-004")
def test_a_message_that_cannot_go_anywhere_is_handed_out_again(
    application: Application, forgetful: ScriptedBroker, topic: str, group: str
) -> None:
    meet_sends(forgetful, responding(ResponseCode.SYSTEM_ERROR, remark="no"))
    consumer = application.consumer(
        topic,
        group=group,
        outcomes={"k": ["later", "hold"]},
        options={"persist_ms": SOON_MS},
    )
    again = consumer.wait_for(2, timeout_s=SLOW_S)[1]
    took_ms = forgetful.now_ms() - forgetful.requests(BACK)[0].at_ms
    expect_that(
        "CLIENT-SENDBACK-004",
        took_ms >= AFTER_KEPT_MS - CLOCKS_MS,
        found=f"{took_ms:.0f} ms",
        expected=f"{AFTER_KEPT_MS} ms, and no less, until it comes again",
    )
    expect("CLIENT-SENDBACK-004", found=body_of(again), expected=b"bad", what="body")
    expect(
        "CLIENT-SENDBACK-004",
        found=commits_past_it(forgetful, topic),
        expected=[],
        what="offsets that are committed while it is not handled",
    )
    consumer.release("k")
    first_commit(forgetful, topic, 1)


@pytest.mark.clause("CLIENT-SENDBACK-005")
def test_who_broadcasts_gives_nothing_back(
    application: Application, forgetful: ScriptedBroker, topic: str, group: str
) -> None:
    consumer = application.consumer(
        topic, group=group, model="broadcasting", outcomes={"k": ["later"]}
    )
    consumer.wait_for(1)
    forgetful.put(topic, b"good")
    consumer.wait_for(2)
    consumer.stop()
    forgetful.wait_for_end()
    found = len(forgetful.requests(BACK)) + len(forgetful.sends)
    expect("CLIENT-SENDBACK-005", found=found, expected=0, what="messages that go back")
