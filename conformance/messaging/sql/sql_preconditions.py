"""Preconditions of tests about SQL92: the broker accepts a simple expression.

A broker without SQL92 fails PULL-SQL-001 and PULL-SQL-012. These block other tests.
"""

from __future__ import annotations

from typing import NoReturn

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import Client, RefusedError, subscription_data
from spec.wire.consumer.sql_filter import SQL92
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

SIMPLE = "a > 1"
PULLED = (
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)
"""Codes of a response to a pull that is not refused."""


def need_sql_pulls(broker: Client, topic: str) -> None:
    """Block the running test where a pull of *topic* with an expression is refused."""
    response = broker.pull(
        topic=topic, offset=0, subscription=SIMPLE, expression_type=SQL92
    )
    if response.code not in PULLED:
        _block("PULL-SQL-001", RequestCode.PULL_MESSAGE, response)


def need_sql_checks(broker: Client, topic: str, group: str) -> None:
    """Block the running test where CHECK_CLIENT_CONFIG refuses an expression."""
    response = check(broker, topic, group, SIMPLE)
    if response.code != ResponseCode.SUCCESS:
        _block("PULL-SQL-012", RequestCode.CHECK_CLIENT_CONFIG, response)


def check(broker: Client, topic: str, group: str, sql: str) -> Command:
    """Send CHECK_CLIENT_CONFIG for a subscription with *sql*."""
    subscription = subscription_data(topic=topic, expression=sql, expression_type=SQL92)
    return broker.check_client(
        client_id=f"{group}@1", group=group, subscription=subscription
    )


def _block(clause: str, request: RequestCode, response: Command) -> NoReturn:
    blocked(f"blocked by {clause}, {request.name}: {RefusedError(response)}")
