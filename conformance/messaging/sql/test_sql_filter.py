"""Consumers that select messages by an expression over their properties."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import example, given, settings

from conformance.harness.client.client import Client
from conformance.harness.targets.target import Target
from conformance.messaging.conftest import scope_of_change, sql_topic_over
from conformance.messaging.sql.sql_topic import (
    UNUSUAL,
    UNUSUAL_EXPRESSIONS,
    Properties,
    SqlTopic,
    a_is,
    create_sql_topic,
)
from conformance.models.conditions import Absent, Compared, Condition, Joined
from conformance.strategies.boundaries import OVER_THE_WIRE
from conformance.strategies.conditions import conditions

MIXED: tuple[Properties, ...] = tuple(
    {
        name: value
        for name, value in zip("abs", values, strict=True)
        if value is not None
    }
    for values in product((None, "0", "7", "-1"), (None, "2", "7"), ("x", "it's"))
)
"""Numbers in a and b and a text in s, each in some messages and not in others."""


@pytest.fixture(scope=scope_of_change)
def mixed_topic(filtering_target: Target, unique: Callable[[str], str]) -> SqlTopic:
    """Return a topic of numbers and texts, whose connection has ended."""
    with filtering_target.connect_to_broker() as client:
        return create_sql_topic(filtering_target, client, unique("mixed"), MIXED)


@pytest.fixture
def mixed(
    request: pytest.FixtureRequest, mixed_topic: SqlTopic, sql_client: Client
) -> SqlTopic:
    """Return the topic of numbers and texts, over a fresh connection."""
    return sql_topic_over(request, mixed_topic, sql_client)


@pytest.mark.clause("PULL-SQL-001", "PULL-SQL-002", "PULL-SQL-003")
@settings(OVER_THE_WIRE, max_examples=60)
@given(condition=conditions())
@example(Joined("OR", Compared("a", ">", 3), Absent("b", negated=False)))
def test_an_expression_selects_the_messages_for_which_it_is_true(
    mixed: SqlTopic, condition: Condition
) -> None:
    mixed.expect_selected(
        "PULL-SQL-001", condition.sql(), [one for one in MIXED if condition.holds(one)]
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
def test_keywords_brackets_and_comments(mixed: SqlTopic, sql: str) -> None:
    mixed.expect_selected(
        "PULL-SQL-002",
        sql,
        [one for one in MIXED if one.get("a") == "7" and "b" in one],
    )


MARKERS = {
    "PULL-SQL-003": pytest.mark.clause("PULL-SQL-003"),
    "PULL-SQL-004": pytest.mark.clause("PULL-SQL-004"),
    "PULL-SQL-005": pytest.mark.clause("PULL-SQL-005"),
    "PULL-SQL-006": pytest.mark.clause("PULL-SQL-006"),
    "PULL-SQL-007": pytest.mark.clause("PULL-SQL-007"),
    "PULL-SQL-009": pytest.mark.clause("PULL-SQL-009"),
}
"""Marker of each clause: a test without a run finds the ids in the source."""


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(sql, marks=MARKERS[clause])
        for sql, (clause, _) in UNUSUAL_EXPRESSIONS.items()
    ],
)
def test_odd_texts_are_selected_oddly(unusual: SqlTopic, sql: str) -> None:
    clause, expected = UNUSUAL_EXPRESSIONS[sql]
    unusual.expect_selected(clause, sql, expected)


@pytest.mark.clause("PULL-SQL-010")
@pytest.mark.parametrize("sql", ["a > 'x'", "a ="])
def test_a_wrong_expression_in_a_pull_selects_everything(
    unusual: SqlTopic, sql: str
) -> None:
    unusual.expect_selected("PULL-SQL-010", sql, list(UNUSUAL))


@pytest.mark.clause("PULL-SQL-015")
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a CONTAINS 'ru'", a_is("true")),
        (
            "a NOT CONTAINS 'ru'",
            [one for one in UNUSUAL if one.get("a", "true") != "true"],
        ),
        ("a STARTSWITH 'TR'", a_is("TRUE")),
        ("a ENDSWITH '48'", a_is("2147483648")),
    ],
)
def test_parts_of_texts(
    unusual: SqlTopic, sql: str, expected: list[Properties]
) -> None:
    unusual.expect_selected("PULL-SQL-015", sql, expected)
