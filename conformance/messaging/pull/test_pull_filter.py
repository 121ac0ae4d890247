"""Filters: a pull names its tags, or its group's heartbeat does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    tags_subscription,
)
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import bodies_of
from conformance.strategies.boundaries import ON_A_TOPIC_EACH
from conformance.strategies.messages import tags
from spec.integers import java_string_hash
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

NO_SUBSCRIPTION = 0


def send_tagged(broker: Client, topic: str, given_tags: list[str | None]) -> None:
    """Send one message for each tag, its body the tag, and wait for them all."""
    for tag in given_tags:
        properties = {"TAGS": tag} if tag else {}
        require_success(
            broker.send_message(
                topic=topic, body=(tag or "none").encode(), properties=properties
            )
        )
    broker.wait_for_max_offset(topic=topic, offset=len(given_tags))


def bodies_for(broker: Client, topic: str, expression: str | None) -> list[str]:
    """Return the bodies of the messages that *expression* selects."""
    response = broker.pull(topic=topic, offset=0, subscription=expression)
    if response.code == ResponseCode.PULL_RETRY_IMMEDIATELY:
        return []
    return [body.decode() for body in bodies_of(response)]


def subscribe(broker: Client, group: str, subscription: Mapping[str, object]) -> None:
    """Send the heartbeat of a member of *group* with one *subscription*."""
    consumer = consumer_data(group=group, subscriptions=[subscription])
    require_success(broker.heartbeat(client_id=f"{group}@1", consumers=[consumer]))


def pull_subscribed(broker: Client, topic: str, group: str) -> Command:
    """Pull by the subscription of version 5 in the group's heartbeat."""
    return broker.pull(
        topic=topic,
        offset=0,
        group=group,
        system_flags=NO_SUBSCRIPTION,
        subscription_version=5,
    )


@pytest.mark.clause("PULL-FILTER-001", "STORE-TAGS-001")
@ON_A_TOPIC_EACH
@given(sent=st.lists(tags(), min_size=1, max_size=8), wanted=tags())
def test_a_tag_selects_its_messages(
    target: Target, broker: Client, unique: Any, sent: list[str], wanted: str
) -> None:
    topic = unique("tags")
    create_topic(target, topic)
    send_tagged(broker, topic, list(sent))
    code = java_string_hash(wanted)
    expect(
        "PULL-FILTER-001",
        found=bodies_for(broker, topic, wanted),
        expected=[tag for tag in sent if java_string_hash(tag) == code],
        what=f"messages selected by {wanted!r} from {sent}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FILTER-002")
@pytest.mark.parametrize(
    "expression", ["a||b", "a || b", " b||a ", "a||||b", "a || c || b", "||a||b||"]
)
def test_tags_with_bars_between_select_all_of_theirs(
    broker: Client, topic: str, expression: str
) -> None:
    send_tagged(broker, topic, ["a", "b", "d", None, "a"])
    found = bodies_for(broker, topic, expression)
    expect(
        "PULL-FILTER-002",
        found=found,
        expected=["a", "b", "a"],
        what=f"bodies pulled with the expression {expression!r}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FILTER-003")
@pytest.mark.parametrize("expression", ["*", "", None])
def test_no_tag_selects_everything(
    broker: Client, topic: str, expression: str | None
) -> None:
    send_tagged(broker, topic, ["a", None, "b"])
    found = bodies_for(broker, topic, expression)
    expect(
        "PULL-FILTER-003",
        found=found,
        expected=["a", "none", "b"],
        what=f"bodies pulled with the expression {expression!r}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FILTER-004")
def test_a_pull_that_selects_nothing_goes_on_behind(broker: Client, topic: str) -> None:
    send_tagged(broker, topic, ["a", None, "b"])
    response = broker.pull(topic=topic, offset=1, subscription="c")
    expect(
        "PULL-FILTER-004",
        found=(response.code, response.fields["nextBeginOffset"]),
        expected=(ResponseCode.PULL_RETRY_IMMEDIATELY, "3"),
        what="code and nextBeginOffset",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FILTER-005")
def test_tags_with_one_hash_are_not_told_apart(broker: Client, topic: str) -> None:
    send_tagged(broker, topic, ["Aa", "BB", "Cc"])
    found = [bodies_for(broker, topic, tag) for tag in ("Aa", "BB")]
    expect(
        "PULL-FILTER-005",
        found=found,
        expected=[["Aa", "BB"]] * 2,
        what="bodies",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FILTER-006")
def test_nothing_but_bars_is_no_subscription(broker: Client, topic: str) -> None:
    for expression in ("||", "||||"):
        expect(
            "PULL-FILTER-006",
            found=broker.pull(topic=topic, offset=0, subscription=expression).code,
            expected=ResponseCode.SUBSCRIPTION_PARSE_FAILED,
            what="code",
            transcript=broker.transcript,
        )


@pytest.mark.settings(enablePropertyFilter="false")
@pytest.mark.clause("PULL-FILTER-007")
def test_sql_is_refused_where_it_is_not_switched_on(broker: Client, topic: str) -> None:
    response = broker.pull(
        topic=topic, offset=0, subscription="a > 1", expression_type="SQL92"
    )
    expect_code(
        "PULL-FILTER-007", response, ResponseCode.SYSTEM_ERROR, broker.transcript
    )


@pytest.mark.clause("PULL-GROUP-001")
def test_a_pull_without_subscription_needs_a_heartbeat(
    broker: Client, topic: str, known_group: str
) -> None:
    def expect_refusal() -> None:
        response = broker.pull(
            topic=topic, offset=0, group=known_group, system_flags=NO_SUBSCRIPTION
        )
        code = ResponseCode.SUBSCRIPTION_NOT_EXIST
        expect_code("PULL-GROUP-001", response, code, broker.transcript)

    expect_refusal()
    other = tags_subscription(topic=f"{topic}_other", tags=["a"], version=5)
    subscribe(broker, known_group, other)
    expect_refusal()


@pytest.mark.clause("PULL-GROUP-002", "PULL-GROUP-003")
def test_a_pull_may_use_the_subscription_of_the_heartbeat(
    broker: Client, topic: str, known_group: str
) -> None:
    subscription = tags_subscription(topic=topic, tags=["a"], version=5)
    subscribe(broker, known_group, subscription)
    send_tagged(broker, topic, ["a", "b", "a"])
    pulls = [
        broker.pull(
            topic=topic,
            offset=0,
            group=known_group,
            system_flags=NO_SUBSCRIPTION,
            subscription="b",
            subscription_version=version,
        )
        for version in (5, 4, 6)
    ]
    found = [bodies_of(response) for response in pulls[:2]]
    expect(
        "PULL-GROUP-002",
        found=found,
        expected=[[b"a", b"a"]] * 2,
        what="bodies",
        transcript=broker.transcript,
    )
    expect(
        "PULL-GROUP-003",
        found=pulls[2].code,
        expected=ResponseCode.SUBSCRIPTION_NOT_LATEST,
        what="code of a pull with a newer subVersion",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FILTER-009")
@pytest.mark.parametrize("kind", [{}, {"expressionType": ""}])
def test_a_subscription_without_a_type_is_by_tag(
    broker: Client, topic: str, known_group: str, kind: dict[str, str]
) -> None:
    subscription = tags_subscription(topic=topic, tags=["a"], version=5)
    del subscription["expressionType"]
    subscribe(broker, known_group, subscription | kind)
    send_tagged(broker, topic, ["a", "b", "a"])
    response = pull_subscribed(broker, topic, known_group)
    expect(
        "PULL-FILTER-009",
        found=bodies_of(response),
        expected=[b"a", b"a"],
        what="bodies",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-FILTER-008")
@pytest.mark.parametrize(
    ("by_class", "bodies"), [(True, [b"a", b"b"]), (False, [b"a"])]
)
def test_a_subscription_by_a_class_is_not_filtered_by_tags(
    broker: Client, topic: str, known_group: str, by_class: bool, bodies: list[bytes]
) -> None:
    subscription = tags_subscription(topic=topic, tags=["a"], version=5)
    subscription = {**subscription, "classFilterMode": by_class}
    subscribe(broker, known_group, subscription)
    send_tagged(broker, topic, ["a", "b"])
    pulled = pull_subscribed(broker, topic, known_group)
    expect(
        "PULL-FILTER-008",
        found=bodies_of(pulled),
        expected=bodies,
        what=f"bodies, classFilterMode {by_class}",
        transcript=broker.transcript,
    )
