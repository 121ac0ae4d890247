"""Expressions that consumers subscribe with: checked, remembered, waited for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_code,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.sql.sql_consumers import subscribe
from conformance.messaging.sql.sql_preconditions import (
    check,
    need_sql_checks,
    need_sql_pulls,
)
from conformance.messaging.sql.sql_topic import (
    UNUSUAL,
    UNUSUAL_EXPRESSIONS,
    SqlTopic,
    a_is,
)
from conformance.messaging.stored_messages import bodies_of
from spec.wire.consumer.sql_filter import SQL92
from spec.wire.remoting.response_code import ResponseCode

QUIET_S = 1.0
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
ENDED_EARLY = [
    sql for sql, (clause, _) in UNUSUAL_EXPRESSIONS.items() if clause == "PULL-SQL-009"
]


@pytest.mark.settings(enablePropertyFilter="false")
@pytest.mark.clause("PULL-SQL-013")
def test_no_expression_is_welcome_where_it_is_off(
    broker: Client, topic: str, group: str
) -> None:
    response = check(broker, topic, group, "a > 1")
    code = ResponseCode.SYSTEM_ERROR
    expect_code("PULL-SQL-013", response, code, broker.transcript)


@pytest.mark.clause("PULL-SQL-008", "PULL-SQL-012")
@pytest.mark.parametrize("sql", WRONG)
def test_a_wrong_expression_is_refused_to_who_asks(
    sql_client: Client, topic: str, group: str, sql: str
) -> None:
    need_sql_checks(sql_client, topic, group)
    response = check(sql_client, topic, group, sql)
    code = ResponseCode.SUBSCRIPTION_PARSE_FAILED
    expect_code("PULL-SQL-008", response, code, sql_client.transcript)


@pytest.mark.clause("PULL-SQL-009")
@pytest.mark.parametrize("sql", ENDED_EARLY)
def test_an_expression_with_a_rest_is_welcome(
    sql_client: Client, topic: str, group: str, sql: str
) -> None:
    need_sql_checks(sql_client, topic, group)
    response = check(sql_client, topic, group, sql)
    expect_code("PULL-SQL-009", response, ResponseCode.SUCCESS, sql_client.transcript)


@pytest.mark.clause("PULL-SQL-012")
@pytest.mark.parametrize(
    "sql",
    [
        *(sql for sql in UNUSUAL_EXPRESSIONS if sql not in ENDED_EARLY),
        *("a BETWEEN b AND 1", "5 = TRUE"),
    ],
)
def test_a_right_expression_is_welcome(
    sql_client: Client, topic: str, group: str, sql: str
) -> None:
    response = check(sql_client, topic, group, sql)
    expect_code("PULL-SQL-012", response, ResponseCode.SUCCESS, sql_client.transcript)


@pytest.mark.clause("PULL-SQL-001")
def test_the_expression_of_the_heartbeat_counts(unusual: SqlTopic, group: str) -> None:
    subscribe(unusual.broker, unusual.topic, group, "a > 1.5")
    response = unusual.broker.pull(
        topic=unusual.topic, offset=0, group=group, system_flags=0, subscription=None
    )
    expect(
        "PULL-SQL-001",
        found=[UNUSUAL[int(body)] for body in bodies_of(response)],
        expected=a_is("7", "2147483648", " 7.5 "),
        what="properties of the messages for a > 1.5",
        transcript=unusual.broker.transcript,
    )


@pytest.mark.clause("PULL-SQL-011")
def test_a_wrong_expression_of_a_heartbeat_is_missed(
    unusual: SqlTopic, group: str
) -> None:
    subscribe(unusual.broker, unusual.topic, group, "a >")
    response = unusual.broker.pull(
        topic=unusual.topic, offset=0, group=group, system_flags=0, subscription=None
    )
    code = ResponseCode.FILTER_DATA_NOT_EXIST
    expect_code("PULL-SQL-011", response, code, unusual.broker.transcript)


@pytest.mark.clause("PULL-SQL-014")
def test_a_held_pull_waits_for_a_message_that_it_selects(
    filtering_target: Target, sql_client: Client, unique: Callable[[str], str]
) -> None:
    topic = create_topic(filtering_target, unique("held"))
    need_sql_pulls(sql_client, topic)
    woken = sum(is_woken(sql_client, topic, offset) for offset in range(3))
    expect_that(
        "PULL-SQL-014",
        woken <= 1,
        found=woken,
        expected="0, or 1 if the broker's look fell into that second",
        what="pulls that were woken, of 3",
        transcript=sql_client.transcript,
    )
    with sql_client.another() as consumer:
        opaque = hold(consumer, topic, offset=3)
        wanted = {"a": "2"}
        require_success(
            sql_client.send_message(topic=topic, body=b"w", properties=wanted)
        )
        response = consumer.peer.receive_response(opaque)
        with charged("PULL-SQL-014", consumer.transcript):
            found = bodies_of(response)
    expect(
        "PULL-SQL-014",
        found=found,
        expected=[b"w"],
        what="bodies",
        transcript=consumer.transcript,
    )


def is_woken(broker: Client, topic: str, offset: int) -> bool:
    """Return whether a pull is answered soon after a message it does not select."""
    with broker.another() as consumer:
        hold(consumer, topic, offset=offset)
        held = consumer.peer.is_silent(QUIET_S / 2)
        expect(
            "PULL-SQL-014",
            found=held,
            expected=True,
            what="held at first",
            transcript=consumer.transcript,
        )
        require_success(broker.send_message(topic=topic, properties={"a": "1"}))
        broker.wait_for_max_offset(topic=topic, offset=offset + 1)
        return not consumer.peer.is_silent(QUIET_S)


def hold(consumer: Client, topic: str, *, offset: int) -> int:
    """Begin a pull that waits for a message whose a is over 1; return its opaque."""
    return consumer.begin_pull(
        topic=topic, offset=offset, subscription="a > 1", expression_type=SQL92
    )
