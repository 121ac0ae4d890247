"""Properties: text with two separators, which the broker keeps and adds to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.known_settings import fields_of_region
from conformance.harness.targets.shared_target import SharedTarget
from conformance.messaging.stored_messages import query_by_key, record_of
from conformance.strategies.boundaries import OVER_THE_WIRE, texts
from conformance.strategies.messages import SEPARATORS, properties
from spec.wire.message.properties import (
    NAME_END,
    VALUE_END,
    Property,
    decode_properties,
)
from spec.wire.remoting.response_code import ResponseCode


def stored(broker: Client, topic: str, sent: dict[str, str] | str | None) -> str:
    """Return the properties that the broker stored of a message sent with *sent*."""
    response = broker.send_message(topic=topic, properties=sent)
    return record_of(broker, response).properties


@pytest.mark.clause("SEND-PROPS-001", "WIRE-PROPERTIES-001", "WIRE-PROPERTIES-008")
@OVER_THE_WIRE
@given(sent=properties())
def test_properties_reach_the_consumer(
    broker: Client, topic: str, sent: dict[str, str]
) -> None:
    text = stored(broker, topic, sent)
    found = decode_properties(text)
    pieces = [one for one in text.split(VALUE_END) if one]
    expect(
        "WIRE-PROPERTIES-001",
        found=[one for one in pieces if one.count(NAME_END) != 1],
        expected=[],
        what="pieces of the properties that are not a name and a value",
        transcript=broker.transcript,
    )
    expect(
        "SEND-PROPS-001",
        found=[name for name in sent if name not in found],
        expected=[],
        what="names of sent properties that are not stored",
        transcript=broker.transcript,
    )
    expect_fields(
        "WIRE-PROPERTIES-008",
        found=found,
        expected=sent,
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-PROPERTIES-002", "WIRE-PROPERTIES-003")
@OVER_THE_WIRE
@given(pairs=st.permutations([("a", "1"), ("b", "2"), ("c", "3")]), last=st.booleans())
def test_order_and_last_separator_mean_nothing(
    broker: Client, topic: str, pairs: list[tuple[str, str]], last: bool
) -> None:
    text = "\x02".join(f"{name}\x01{value}" for name, value in pairs)
    found = decode_properties(stored(broker, topic, text + "\x02" * last))
    clause = "WIRE-PROPERTIES-003" if last else "WIRE-PROPERTIES-002"
    expect_fields(
        clause, found=found, expected=dict(pairs), transcript=broker.transcript
    )


@pytest.mark.clause("WIRE-PROPERTIES-004")
@pytest.mark.parametrize("broken", ["", "alone", "alone\x01", "\x02", "x\x02y"])
def test_a_broken_pair_is_passed_over(broker: Client, topic: str, broken: str) -> None:
    text = stored(broker, topic, f"a\x011\x02{broken}\x02b\x012\x02")
    found = decode_properties(text)
    expect_fields(
        "WIRE-PROPERTIES-004",
        found=found,
        expected={"a": "1", "b": "2"},
        transcript=broker.transcript,
    )
    for name in ("alone", "x", "y", ""):
        expect_that(
            "WIRE-PROPERTIES-004",
            name not in found,
            found=text,
            expected=f"no property {name!r}",
            transcript=broker.transcript,
        )


TWO_SEPARATORS = "a\x011\x02KEYS\x01one\x01two\x02c\x014\x02"
KEY_OF_THEM = "one\x01two"
"""The key of a message with these properties, if the pair is one."""


def indexed(broker: Client, topic: str) -> bool:
    """Return whether a message with two separators in KEYS is found by that key.

    What the broker stores is what it was sent, so only what it does with a property
    shows how it reads it. The index is filled in order: the second message ends it.
    """
    broker.send_message(topic=topic, properties=TWO_SEPARATORS)
    broker.send_message(topic=topic, properties={"KEYS": "witness"})
    wait_until(
        lambda: is_found(broker, topic, "witness"),
        what="the index gives the message that was sent last",
    )
    return is_found(broker, topic, KEY_OF_THEM)


def is_found(broker: Client, topic: str, key: str, *, unique: bool = False) -> bool:
    """Return whether a query by *key* gives a message."""
    response = query_by_key(broker, topic, key, unique=unique)
    return response.code == ResponseCode.SUCCESS


@pytest.mark.clause("WIRE-PROPERTIES-005")
def test_a_pair_with_a_second_separator_is_passed_over(
    broker: Client, topic: str
) -> None:
    expect(
        "WIRE-PROPERTIES-005",
        found=indexed(broker, topic),
        expected=False,
        what=f"whether the message is found by {KEY_OF_THEM!r}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-PROPERTIES-006")
def test_a_second_separator_stays_in_the_value(broker: Client, topic: str) -> None:
    expect(
        "WIRE-PROPERTIES-006",
        found=indexed(broker, topic),
        expected=True,
        what=f"whether the message is found by {KEY_OF_THEM!r}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-PROPERTIES-013")
@pytest.mark.parametrize("name", ["KEYS", "UNIQ_KEY"])
def test_of_equal_names_the_last_with_a_value_counts(
    broker: Client, topic: str, name: str
) -> None:
    text = f"{name}\x01first\x02a\x011\x02{name}\x01last\x02{name}\x01\x02"
    broker.send_message(topic=topic, properties=text)
    broker.send_message(topic=topic, properties={"KEYS": "witness"})
    wait_until(
        lambda: is_found(broker, topic, "witness"),
        what="the index gives the message that was sent last",
    )
    expect_fields(
        "WIRE-PROPERTIES-013",
        found={
            key: is_found(broker, topic, key, unique=name == "UNIQ_KEY")
            for key in ("first", "last")
        },
        expected={"first": False, "last": True},
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-PROPERTIES-013")
def test_of_two_tags_the_last_counts(broker: Client, topic: str) -> None:
    text = "TAGS\x01first\x02a\x011\x02TAGS\x01last\x02"
    require_success(broker.send_message(topic=topic, properties=text))
    broker.wait_for_max_offset(topic=topic, offset=1)
    codes = {
        tag: broker.pull(topic=topic, offset=0, subscription=tag).code
        for tag in ("first", "last")
    }
    expect_fields(
        "WIRE-PROPERTIES-013",
        found=codes,
        expected={
            "first": ResponseCode.PULL_RETRY_IMMEDIATELY,
            "last": ResponseCode.SUCCESS,
        },
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-PROPERTIES-007")
def test_stored_properties_end_with_a_separator(broker: Client, topic: str) -> None:
    _ends_with(broker, topic, "\x02", clause="WIRE-PROPERTIES-007")


@pytest.mark.clause("WIRE-PROPERTIES-011")
def test_stored_properties_end_without_a_separator(broker: Client, topic: str) -> None:
    _ends_with(broker, topic, "", clause="WIRE-PROPERTIES-011")


@pytest.mark.clause("WIRE-PROPERTIES-012")
def test_stored_properties_end_with_a_separator_again(
    broker: Client, topic: str
) -> None:
    _ends_with(broker, topic, "\x02", clause="WIRE-PROPERTIES-012")


def _ends_with(broker: Client, topic: str, end: str, *, clause: str) -> None:
    for sent in ({"a": "1"}, {"KEYS": "k", "TAGS": "t"}):
        text = stored(broker, topic, sent)
        found = text[len(text.rstrip("\x02")) :]
        expect(
            clause,
            found=found,
            expected=end,
            what="the end of the properties",
            transcript=broker.transcript,
        )


@pytest.mark.clause("SEND-PROPS-003")
@OVER_THE_WIRE
@given(value=texts(without=SEPARATORS))
def test_the_broker_adds_its_clusters_name(
    broker: Client, target: SharedTarget, topic: str, value: str
) -> None:
    found = decode_properties(stored(broker, topic, {"own": value}))
    expect_fields(
        "SEND-PROPS-003",
        found=found,
        expected={"own": value, "CLUSTER": target.cluster},
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-PROPS-004")
def test_the_broker_adds_a_unique_key_where_there_is_none(
    broker: Client, topic: str
) -> None:
    found = [decode_properties(stored(broker, topic, None)) for _ in range(2)]
    keys = {properties.get(Property.UNIQ_KEY) for properties in found}
    expect(
        "SEND-PROPS-004",
        found=len(keys - {None}),
        expected=2,
        what="unique keys",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-PROPS-005")
def test_the_broker_adds_its_region(
    target: SharedTarget, broker: Client, topic: str
) -> None:
    expected = fields_of_region(target)
    found = decode_properties(stored(broker, topic, None))
    expect_fields(
        "SEND-PROPS-005",
        found={name: found.get(name) for name in expected},
        expected=expected,
        transcript=broker.transcript,
    )


@pytest.mark.clause("CLIENT-UNIQKEY-007")
@OVER_THE_WIRE
@given(key=texts(without=SEPARATORS + " "))
def test_a_producers_unique_key_stays(broker: Client, topic: str, key: str) -> None:
    text = stored(broker, topic, {"UNIQ_KEY": key})
    found = decode_properties(text).get("UNIQ_KEY")
    expect(
        "CLIENT-UNIQKEY-007",
        found=found,
        expected=key,
        what="UNIQ_KEY",
        transcript=broker.transcript,
    )
