"""Messages that a producer refuses before anything is sent."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.harness.pytest_plugin.expectations import expect
from spec.wire.remoting.response_code import ResponseCode

ILLEGAL = ResponseCode.MESSAGE_ILLEGAL
BODY_SIZE_MAX = 4_194_304


def expect_refused(
    clause_id: str, outcome: object, broker: ScriptedBroker, what: str
) -> None:
    """Fail *clause_id* unless a send failed and no broker was request."""
    error = getattr(outcome, "error", None)
    expect(clause_id, found=error is not None, expected=True, what=f"refusal of {what}")
    expect(clause_id, found=len(broker.sends), expected=0, what=f"requests with {what}")


@pytest.mark.clause("CLIENT-VALIDATE-001")
def test_a_producer_that_was_stopped_sends_nothing(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer()
    producer.stop()
    outcome = producer.send(topic)
    expect_refused(
        "CLIENT-VALIDATE-001", outcome, broker, "a stopped producer's message"
    )


@pytest.mark.clause("CLIENT-VALIDATE-002")
@pytest.mark.parametrize("body", [None, b""], ids=["no body", "an empty body"])
def test_a_message_without_a_body_is_refused(
    application: Application, broker: ScriptedBroker, topic: str, body: bytes | None
) -> None:
    outcome = application.producer().send(topic, body)
    expect_refused("CLIENT-VALIDATE-002", outcome, broker, "an empty body")
    expect("CLIENT-VALIDATE-002", found=outcome.word, expected=ILLEGAL, what="code")


@pytest.mark.clause("CLIENT-VALIDATE-003")
def test_a_body_over_the_limit_is_refused_though_it_compresses_well(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    outcome = application.producer().send(topic, bytes(BODY_SIZE_MAX + 1))
    expect_refused("CLIENT-VALIDATE-003", outcome, broker, "4,194,305 bytes")
    expect("CLIENT-VALIDATE-003", found=outcome.word, expected=ILLEGAL, what="code")


@pytest.mark.clause("CLIENT-VALIDATE-003")
def test_a_body_at_the_limit_is_sent(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    outcome = application.producer().send(topic, bytes(BODY_SIZE_MAX))
    expect("CLIENT-VALIDATE-003", found=outcome.word, expected="SEND_OK", what="4 MiB")
    expect("CLIENT-VALIDATE-003", found=len(broker.sends), expected=1, what="requests")


@pytest.mark.clause("CLIENT-VALIDATE-003")
def test_the_limit_of_a_body_can_be_set(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer(max_message_size=100)
    outcome = producer.send(topic, bytes(101))
    expect_refused("CLIENT-VALIDATE-003", outcome, broker, "101 bytes where 100 may be")
    expect(
        "CLIENT-VALIDATE-003",
        found=producer.send(topic, bytes(100)).word,
        expected="SEND_OK",
        what="100 bytes where 100 may be",
    )


@pytest.mark.clause("CLIENT-VALIDATE-004")
@pytest.mark.parametrize("topic", ["", " ", "a b", "a.b", "a/b", "größe", "a\nb"])
def test_a_topic_with_other_characters_is_refused(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    outcome = application.producer().send(topic)
    expect_refused("CLIENT-VALIDATE-004", outcome, broker, f"the topic {topic!r}")


@pytest.mark.clause("CLIENT-VALIDATE-004")
def test_a_topic_may_have_every_allowed_character(
    application: Application, broker: ScriptedBroker
) -> None:
    topic = "%RETRY%|aZ_-09"
    broker_route(application, topic)
    outcome = application.producer().send(topic)
    expect("CLIENT-VALIDATE-004", found=outcome.word, expected="SEND_OK", what=topic)
    assert len(broker.sends) == 1


@pytest.mark.clause("CLIENT-VALIDATE-005")
def test_a_topic_may_have_255_characters(
    application: Application, broker: ScriptedBroker
) -> None:
    expect_longest("CLIENT-VALIDATE-005", application, broker, 255)


@pytest.mark.clause("CLIENT-VALIDATE-006")
def test_a_topic_may_have_127_characters(
    application: Application, broker: ScriptedBroker
) -> None:
    expect_longest("CLIENT-VALIDATE-006", application, broker, 127)


@pytest.mark.clause("CLIENT-VALIDATE-007")
def test_the_default_topic_is_not_sent_to(
    application: Application, broker: ScriptedBroker
) -> None:
    broker_route(application, "TBW102")
    outcome = application.producer().send("TBW102")
    expect_refused("CLIENT-VALIDATE-007", outcome, broker, "the topic TBW102")


@pytest.mark.clause("CLIENT-BATCH-001")
@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([], id="empty"),
        pytest.param([{"topic": "A"}, {"topic": "B"}], id="two topics"),
        pytest.param([{"topic": "%RETRY%g"}], id="a retry topic"),
        pytest.param([{"topic": "A"}, {"topic": "A", "delay_level": 1}], id="delayed"),
        pytest.param(
            [{"topic": "A"}, {"topic": "A", "wait_store": False}],
            id="some do not wait",
        ),
    ],
)
def test_a_batch_of_unlike_messages_is_refused(
    application: Application, broker: ScriptedBroker, messages: list[dict[str, object]]
) -> None:
    for topic in ("A", "B", "%RETRY%g"):
        broker_route(application, topic)
    received = [{"body": "YQ==", **one} for one in messages]
    outcome = application.producer().send("A", messages=received)
    expect_refused("CLIENT-BATCH-001", outcome, broker, "such a batch")


def broker_route(application: Application, topic: str) -> None:
    """Let the broker have a queue of *topic*."""
    application.cluster.route(topic, {"broker-a": 1})


def expect_longest(
    clause_id: str, application: Application, broker: ScriptedBroker, size: int
) -> None:
    """Fail *clause_id* unless a topic may have *size* characters, and not one more."""
    broker_route(application, "t" * size)
    producer = application.producer()
    outcome = producer.send("t" * (size + 1))
    expect_refused(clause_id, outcome, broker, f"a topic of {size + 1} characters")
    found = producer.send("t" * size).word
    expect(clause_id, found=found, expected="SEND_OK", what=f"{size} characters")
