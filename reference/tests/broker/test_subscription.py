"""Subscriptions in pull requests."""

from __future__ import annotations

import pytest

from reference.core.broker.filter.subscription import (
    parse_subscription,
    subscription_of,
)
from reference.core.remoting.request import Refused
from spec.integers import java_string_hash
from spec.wire.bodies.heartbeat import TAG, SubscriptionData


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("A || B", ("A", "B")),
        ("||A", ("A",)),
        ("A|||B", ("A", "|B")),
        (" ", ()),
        ("\x1fA\0", ("A",)),
        ("\u3000A||\u00a0B", ("\u3000A", "\u00a0B")),
    ],
)
def test_a_tag_is_what_java_cuts_out(text: str, tags: tuple[str, ...]) -> None:
    found = parse_subscription("T", text, TAG)
    assert found.codes == frozenset(map(java_string_hash, tags))


@pytest.mark.parametrize("text", ["||", "||||"])
def test_separators_alone_are_no_subscription(text: str) -> None:
    with pytest.raises(Refused, match="parse the consumer's subscription failed"):
        parse_subscription("T", text, TAG)


def test_an_empty_type_is_by_tag_and_has_no_tags_in_a_pull() -> None:
    found = parse_subscription("T", "A", "")
    assert found.is_by_tag
    assert found.codes == frozenset()


def test_an_empty_type_has_the_tags_of_its_heartbeat() -> None:
    codes = tuple(map(java_string_hash, ("A", "B")))
    data = SubscriptionData(
        topic="T", expression="A || B", codes=codes, version=1, expression_type=""
    )
    assert subscription_of(data).codes == frozenset(codes)
