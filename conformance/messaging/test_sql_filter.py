"""Consumers that select messages by an expression over their properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import example, given, settings

from conformance.harness.fixtures import create_topic
from conformance.harness.speaker import (
    Speaker,
    consumer_data,
    subscription_data,
    succeeded,
)
from conformance.harness.target import Target
from conformance.harness.verdicts import expect, expect_code, expect_that
from conformance.messaging.reading import bodies_of
from conformance.models.conditions import Absent, Compared, Condition, Joined
from conformance.strategies.boundaries import OVER_THE_WIRE
from conformance.strategies.conditions import conditions
from spec.wire.command import Command
from spec.wire.response_code import ResponseCode
from spec.wire.sql_filter import SQL92

Properties = Mapping[str, str]
MIXED: tuple[Properties, ...] = tuple(
    {
        name: value
        for name, value in zip("abs", values, strict=True)
        if value is not None
    }
    for values in product((None, "0", "7", "-1"), (None, "2", "7"), ("x", "it's"))
)
"""Numbers in a and b and a text in s, each in some messages and not in others."""
ODD: tuple[Properties, ...] = (
    {},
    {"a": "7"},
    {"a": "true"},
    {"a": "TRUE"},
    {"a": "x", "b": "y"},
    {"a": "2147483648"},
    {"a": " 7.5 "},
    {"a": "7", "b": "6.5"},
)
"""Texts that read as numbers of some kind, as truth, or as nothing."""
QUIET_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A topic with one message for each of some properties, their number its body."""

    broker: Speaker
    topic: str
    properties: tuple[Properties, ...]

    def selected(self, sql: str) -> list[Properties]:
        """Return the properties of the messages that a pull with *sql* gets."""
        answer = self.broker.pull(
            topic=self.topic, offset=0, subscription=sql, expression_type=SQL92
        )
        if answer.code == ResponseCode.PULL_RETRY_IMMEDIATELY:
            return []
        return [self.properties[int(body)] for body in bodies_of(answer)]


@pytest.fixture(scope="module")
def chooser(obedient: Target) -> Iterator[Speaker]:
    """Yield a connection to a broker that filters."""
    with obedient.speak_to_broker() as speaker:
        yield speaker


@pytest.fixture(scope="module")
def mixed(obedient: Target, chooser: Speaker, unique: Callable[[str], str]) -> Shelf:
    """Return a shelf of numbers and texts."""
    return filled(obedient, chooser, unique("mixed"), MIXED)


@pytest.fixture(scope="module")
def odd(obedient: Target, chooser: Speaker, unique: Callable[[str], str]) -> Shelf:
    """Return a shelf of odd texts."""
    return filled(obedient, chooser, unique("odd"), ODD)


def filled(
    target: Target, broker: Speaker, name: str, properties: tuple[Properties, ...]
) -> Shelf:
    """Return a new shelf."""
    topic = create_topic(target, name)
    for number, one in enumerate(properties):
        body = b"%d" % number
        succeeded(broker.send_message(topic=topic, body=body, properties=one))
    broker.wait_for_max_offset(topic=topic, offset=len(properties))
    return Shelf(broker=broker, topic=topic, properties=properties)


@pytest.mark.clause("PULL-SQL-001", "PULL-SQL-002", "PULL-SQL-003")
@settings(OVER_THE_WIRE, max_examples=60)
@given(condition=conditions())
@example(Joined("OR", Compared("a", ">", 3), Absent("b", negated=False)))
def test_an_expression_selects_the_messages_for_which_it_is_true(
    mixed: Shelf, condition: Condition
) -> None:
    expect(
        "PULL-SQL-001",
        found=mixed.selected(condition.sql()),
        expected=[one for one in MIXED if condition.holds(one)],
        what=f"properties of the messages for {condition.sql()}",
        transcript=mixed.broker.transcript,
    )


@pytest.mark.clause("PULL-SQL-002")
@pytest.mark.parametrize(
    "sql",
    [
        "a>=7and b iS noT nuLL",
        "A = 1 OR (a > 6 AND b >= 2)",
        "a /* as many */ = 7 AND -- and\n 1 < b",
        "NOT (a < 7 OR b < 2) AND a IS NOT NULL AND b IS NOT NULL",
        "+a = 7 AND b > -1",
        "7E0 = a AND b BETWEEN 2 AND 1E1",
    ],
)
def test_keywords_brackets_and_comments(mixed: Shelf, sql: str) -> None:
    expect(
        "PULL-SQL-002",
        found=mixed.selected(sql),
        expected=[one for one in MIXED if one.get("a") == "7" and "b" in one],
        what=f"properties of the messages for {sql}",
        transcript=mixed.broker.transcript,
    )


def a_is(*values: str) -> list[Properties]:
    """Return the odd properties in which a is one of some texts."""
    return [one for one in ODD if one.get("a") in values]


ODD_ONES = {
    "a > 1": ("PULL-SQL-004", a_is("7")),
    "a > 1L": ("PULL-SQL-004", a_is("7")),
    "a > 2147483647": ("PULL-SQL-004", []),
    "a > 2147483648 OR a = 2147483648": ("PULL-SQL-004", a_is("2147483648")),
    "a > 1.5": ("PULL-SQL-004", a_is("7", "2147483648", " 7.5 ")),
    "b = 'y' OR a > 1.5": (
        "PULL-SQL-004",
        a_is("7", "x", "2147483648", " 7.5 "),
    ),
    "a > 1.5 OR b = 'y'": ("PULL-SQL-004", a_is("7", "2147483648", " 7.5 ")),
    "a > b": ("PULL-SQL-005", [{"a": "7", "b": "6.5"}]),
    "a": ("PULL-SQL-006", []),
    "NOT a": ("PULL-SQL-006", [one for one in ODD if "a" in one]),
    "a OR b = 'y'": ("PULL-SQL-006", [{"a": "x", "b": "y"}]),
    "a = TRUE": ("PULL-SQL-007", a_is("true", "TRUE")),
    "a = false": (
        "PULL-SQL-007",
        [one for one in ODD if one.get("a", "true").lower() != "true"],
    ),
    "TRUE = a": ("PULL-SQL-007", []),
    "FALSE = a OR FALSE = TRUE": ("PULL-SQL-007", []),
    "a = 'x' LIKE '%' ; --": ("PULL-SQL-009", a_is("x")),
    "a LIKE 'x'": ("PULL-SQL-009", []),
    "NOT a LIKE 'x'": ("PULL-SQL-009", [one for one in ODD if "a" in one]),
}
"""Expressions, the clause that each is about, and what they select of the odd."""


@pytest.mark.clause(
    "PULL-SQL-004", "PULL-SQL-005", "PULL-SQL-006", "PULL-SQL-007", "PULL-SQL-009"
)
@pytest.mark.parametrize("sql", ODD_ONES)
def test_odd_texts_are_selected_oddly(odd: Shelf, sql: str) -> None:
    clause, expected = ODD_ONES[sql]
    expect(
        clause,
        found=odd.selected(sql),
        expected=expected,
        what=f"properties of the messages for {sql}",
        transcript=odd.broker.transcript,
    )


WRONG = (
    "a > 'x'",
    "'x' <= a",
    "(a = 1) > 0",
    "a > TRUE",
    "a = NULL",
    "a <> NULL",
    "a BETWEEN 3 AND 1",
    "a BETWEEN 'a' AND 'b'",
    "a IN (1, 2)",
    "'x' IN ('x')",
    "a = 9223372036854775808",
    "a > 0.0",
    "TRUE = 5",
    "5",
    "a = 1 #",
    "a >",
    "(a = 1",
    "a IS 5",
)


@pytest.mark.clause("PULL-SQL-008", "PULL-SQL-012")
@pytest.mark.parametrize("sql", WRONG)
def test_a_wrong_expression_is_refused_to_who_asks(
    chooser: Speaker, topic: str, group: str, sql: str
) -> None:
    answer = check(chooser, topic, group, sql)
    code = ResponseCode.SUBSCRIPTION_PARSE_FAILED
    expect_code("PULL-SQL-008", answer, code, chooser.transcript)


@pytest.mark.clause("PULL-SQL-012", "PULL-SQL-009")
@pytest.mark.parametrize("sql", [*ODD_ONES, "a BETWEEN b AND 1", "5 = TRUE"])
def test_a_right_expression_is_welcome(
    chooser: Speaker, topic: str, group: str, sql: str
) -> None:
    answer = check(chooser, topic, group, sql)
    expect_code("PULL-SQL-012", answer, ResponseCode.SUCCESS, chooser.transcript)


@pytest.mark.clause("PULL-SQL-013")
def test_no_expression_is_welcome_where_it_is_off(
    broker: Speaker, topic: str, group: str
) -> None:
    answer = check(broker, topic, group, "a > 1")
    code = ResponseCode.SYSTEM_ERROR
    expect_code("PULL-SQL-013", answer, code, broker.transcript)


def check(broker: Speaker, topic: str, group: str, sql: str) -> Command:
    """Ask whether a consumer may subscribe with *sql*."""
    subscription = subscription_data(topic=topic, expression=sql, expression_type=SQL92)
    return broker.check_client(
        client_id=f"{group}@1", group=group, subscription=subscription
    )


@pytest.mark.clause("PULL-SQL-010")
@pytest.mark.parametrize("sql", ["a > 'x'", "a ="])
def test_a_wrong_expression_in_a_pull_selects_everything(odd: Shelf, sql: str) -> None:
    expect(
        "PULL-SQL-010",
        found=odd.selected(sql),
        expected=list(ODD),
        what=f"properties of the messages for {sql}",
        transcript=odd.broker.transcript,
    )


def subscribe(broker: Speaker, topic: str, group: str, sql: str) -> None:
    """Join a group with an expression."""
    succeeded(broker.update_group(group=group))
    subscription = subscription_data(
        topic=topic, expression=sql, expression_type=SQL92, version=1
    )
    member = consumer_data(group=group, subscriptions=[subscription])
    succeeded(broker.heartbeat(client_id=f"{group}@1", consumers=[member]))


@pytest.mark.clause("PULL-SQL-001")
def test_the_expression_of_the_heartbeat_counts(odd: Shelf, group: str) -> None:
    subscribe(odd.broker, odd.topic, group, "a > 1.5")
    answer = odd.broker.pull(
        topic=odd.topic, offset=0, group=group, system_flags=0, subscription=None
    )
    expect(
        "PULL-SQL-001",
        found=[ODD[int(body)] for body in bodies_of(answer)],
        expected=a_is("7", "2147483648", " 7.5 "),
        what="properties of the messages for a > 1.5",
        transcript=odd.broker.transcript,
    )


@pytest.mark.clause("PULL-SQL-011")
def test_a_wrong_expression_of_a_heartbeat_is_missed(odd: Shelf, group: str) -> None:
    subscribe(odd.broker, odd.topic, group, "a >")
    answer = odd.broker.pull(
        topic=odd.topic, offset=0, group=group, system_flags=0, subscription=None
    )
    code = ResponseCode.FILTER_DATA_NOT_EXIST
    expect_code("PULL-SQL-011", answer, code, odd.broker.transcript)


@pytest.mark.clause("PULL-SQL-014")
def test_a_held_pull_waits_for_a_message_that_it_selects(
    obedient: Target, chooser: Speaker, unique: Callable[[str], str]
) -> None:
    topic = create_topic(obedient, unique("held"))
    woken = sum(is_woken(chooser, topic, offset) for offset in range(3))
    expect_that(
        "PULL-SQL-014",
        woken <= 1,
        found=woken,
        expected="0, or 1 if the broker's look fell into that second",
        what="pulls that were woken, of 3",
    )
    with Speaker.connect(chooser.address) as consumer:
        opaque = hold(consumer, topic, offset=3)
        wanted = {"a": "2"}
        succeeded(chooser.send_message(topic=topic, body=b"w", properties=wanted))
        found = bodies_of(consumer.peer.receive_answer(opaque))
    expect("PULL-SQL-014", found=found, expected=[b"w"], what="bodies")


def is_woken(broker: Speaker, topic: str, offset: int) -> bool:
    """Return whether a pull is answered soon after a message it does not select."""
    with Speaker.connect(broker.address) as consumer:
        hold(consumer, topic, offset=offset)
        held = consumer.peer.is_silent(QUIET_S / 2)
        expect("PULL-SQL-014", found=held, expected=True, what="held at first")
        succeeded(broker.send_message(topic=topic, properties={"a": "1"}))
        broker.wait_for_max_offset(topic=topic, offset=offset + 1)
        return not consumer.peer.is_silent(QUIET_S)


def hold(consumer: Speaker, topic: str, *, offset: int) -> int:
    """Begin a pull that waits for a message whose a is over 1; return its opaque."""
    return consumer.begin_pull(
        topic=topic, offset=offset, subscription="a > 1", expression_type=SQL92
    )


@pytest.mark.clause("PULL-SQL-015")
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a CONTAINS 'ru'", a_is("true")),
        ("a NOT CONTAINS 'ru'", [one for one in ODD if one.get("a", "true") != "true"]),
        ("a STARTSWITH 'TR'", a_is("TRUE")),
        ("a ENDSWITH '48'", a_is("2147483648")),
    ],
)
def test_parts_of_texts(odd: Shelf, sql: str, expected: list[Properties]) -> None:
    expect(
        "PULL-SQL-015",
        found=odd.selected(sql),
        expected=expected,
        what=f"properties of the messages for {sql}",
        transcript=odd.broker.transcript,
    )
