"""Topics with messages of certain properties, to select from by SQL92."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.harness.client.client import Client, RefusedError, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import bodies_of
from spec.wire.consumer.sql_filter import SQL92
from spec.wire.remoting.response_code import ResponseCode

Properties = Mapping[str, str]
UNUSUAL: tuple[Properties, ...] = (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlTopic:
    """A topic with one message for each of some properties, their number its body."""

    broker: Client
    topic: str
    properties: tuple[Properties, ...]

    def selected(self, sql: str) -> list[Properties]:
        """Return the properties of the messages that a pull with *sql* gets."""
        response = self.broker.pull(
            topic=self.topic, offset=0, subscription=sql, expression_type=SQL92
        )
        if response.code == ResponseCode.PULL_RETRY_IMMEDIATELY:
            return []
        return [self.properties[int(body)] for body in bodies_of(response)]

    def expect_selected(
        self, clause: str, sql: str, expected: list[Properties]
    ) -> None:
        """Fail *clause* unless a pull with *sql* gets the *expected* messages alone."""
        try:
            found: object = self.selected(sql)
        except RefusedError as error:
            found = str(error)
        expect(
            clause,
            found=found,
            expected=expected,
            what=f"properties of the messages for {sql}",
            transcript=self.broker.transcript,
        )


def create_sql_topic(
    target: Target, broker: Client, name: str, properties: tuple[Properties, ...]
) -> SqlTopic:
    """Return a new topic with one message for each of *properties*."""
    topic = create_topic(target, name)
    for number, one in enumerate(properties):
        body = b"%d" % number
        require_success(broker.send_message(topic=topic, body=body, properties=one))
    broker.wait_for_max_offset(topic=topic, offset=len(properties))
    return SqlTopic(broker=broker, topic=topic, properties=properties)


def a_is(*values: str) -> list[Properties]:
    """Return the unusual properties whose ``a`` is one of *values*."""
    return [one for one in UNUSUAL if one.get("a") in values]


UNUSUAL_EXPRESSIONS: Mapping[str, tuple[str, list[Properties]]] = {
    "a = b": ("PULL-SQL-003", [{}]),
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
    "a > b OR b = 'y'": ("PULL-SQL-005", [{"a": "7", "b": "6.5"}]),
    "a": ("PULL-SQL-006", []),
    "NOT a": ("PULL-SQL-006", [one for one in UNUSUAL if "a" in one]),
    "a OR b = 'y'": ("PULL-SQL-006", [{"a": "x", "b": "y"}]),
    "a = TRUE": ("PULL-SQL-007", a_is("true", "TRUE")),
    "a = false": (
        "PULL-SQL-007",
        [one for one in UNUSUAL if one.get("a", "true").lower() != "true"],
    ),
    "TRUE = a": ("PULL-SQL-007", []),
    "TRUE = a OR a = 'x'": ("PULL-SQL-007", []),
    "FALSE = a OR FALSE = TRUE": ("PULL-SQL-007", []),
    "a = 'x' LIKE '%' ; --": ("PULL-SQL-009", a_is("x")),
    "a LIKE 'x'": ("PULL-SQL-009", []),
    "NOT a LIKE 'x'": ("PULL-SQL-009", [one for one in UNUSUAL if "a" in one]),
}
"""Expressions, the clause of each, and the unusual properties they select."""
