"""Shared fixtures: a known group, and brokers with settings of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

import pytest

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.background import begin, end, result_of
from conformance.harness.pytest_plugin.collection.selection import clauses_of
from conformance.harness.pytest_plugin.fixtures import (
    OPTIONS,
    another_target,
    create_group,
    create_topic,
    need,
)
from conformance.harness.pytest_plugin.known_settings import (
    configured,
    need_settings,
    with_settings,
)
from conformance.harness.pytest_plugin.target_cache import TargetCache
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.groups.lock_expiry import LockExpiry, watch
from conformance.messaging.pop import revival
from conformance.messaging.pop.pop_group import PopGroup, Revival
from conformance.messaging.sql.sql_preconditions import need_sql_pulls
from conformance.messaging.sql.sql_topic import UNUSUAL, SqlTopic, create_sql_topic
from conformance.messaging.transactions.transaction_checks import (
    CHECK_INTERVAL,
    FREQUENT_CHECKS,
    frequent_check_settings,
)
from spec.clause import release_key

LARGEST_MESSAGE = 65_536
FILTERING = {"enablePropertyFilter": "true"}
RECALLING = {"recallMessageEnable": "true"}


@pytest.fixture
def known_group(target: Target, group: str) -> str:
    """Return the name of a new group; 5.3 commits offsets only of such."""
    return create_group(target, group)


@pytest.fixture
def observed_revival(pytestconfig: pytest.Config) -> Revival:
    """Return the observation whether the target returns a popped message again."""
    return revival.observed(pytestconfig)


@pytest.fixture
def pop_group(
    broker: Client,
    target: Target,
    topic: str,
    known_group: str,
    observed_revival: Revival,
) -> PopGroup:
    """Return a new group that pops a new topic of 4 queues."""
    return PopGroup(
        broker=broker,
        broker_name=target.broker_name,
        topic=topic,
        group=known_group,
        revival=observed_revival,
    )


def scope_of_change(
    fixture_name: str,  # noqa: ARG001 # pytest passes it
    config: pytest.Config,
) -> Literal["module", "function"]:
    """Return the scope of a change of settings: a file at the broker of a user."""
    return "module" if config.stash[OPTIONS].may_configure else "function"


@pytest.fixture(scope=scope_of_change)
def configurable_target(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Iterator[Target]:
    """Return a target whose settings tests may change, and which filters by SQL92.

    Each test puts back what it changed. The suite's own broker has a small largest
    message, and TBW102 may be closed there.
    """
    if not pytestconfig.stash[OPTIONS].may_configure:
        need(target, Capability.WIRE, Capability.CONFIG)
    if Capability.CONFIG in target.capabilities:
        conf = {"maxMessageSize": str(LARGEST_MESSAGE), **FILTERING}
        yield target_cache.get(
            "configurable_target", lambda: another_target(pytestconfig, conf)
        )
    else:
        with configured(target, FILTERING):
            yield target


@pytest.fixture(scope=scope_of_change)
def filtering_target(
    request: pytest.FixtureRequest, target: Target
) -> Iterator[Target]:
    """Yield a target whose broker filters by SQL92."""
    may_configure = request.config.stash[OPTIONS].may_configure
    if may_configure or Capability.CONFIG in target.capabilities:
        yield request.getfixturevalue("configurable_target")
    else:
        need_settings(target, FILTERING)
        yield target


@pytest.fixture
def recalling(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield the target while its broker recalls timed messages.

    A running broker reads the setting with each request. No other file relies on it.
    """
    with with_settings(pytestconfig, target, RECALLING):
        yield target


@pytest.fixture(scope=scope_of_change)
def checking_target(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Iterator[Target]:
    """Yield a target whose broker checks half messages often.

    A running broker before 5.0 reads the interval only at its start.
    """
    changes = frequent_check_settings(target.release)
    yield from checking(pytestconfig, target, target_cache, FREQUENT_CHECKS, changes)


def checking(
    config: pytest.Config,
    target: Target,
    target_cache: TargetCache,
    conf: Mapping[str, str],
    changes: Mapping[str, str],
) -> Iterator[Target]:
    """Yield a target of the suite's own with *conf*, or the run's with *changes*."""
    is_5 = release_key(target.release) >= (5,)
    if Capability.CONFIG in target.capabilities:
        name = "checking", *sorted(conf.items())
        yield target_cache.get(name, lambda: another_target(config, conf))
    elif is_5 and config.stash[OPTIONS].may_configure:
        with target.connect_for_admin() as admin:
            before_ms = int(admin.broker_settings().get(CHECK_INTERVAL, "0"))
        with configured(target, changes):
            time.sleep(before_ms / 1000)  # The interval before the change ends.
            yield target
    else:
        need_settings(target, changes)
        yield target


@pytest.fixture
def checking_broker(checking_target: Target) -> Iterator[Client]:
    """Yield a connection to the broker that checks often."""
    with checking_target.connect_to_broker() as client:
        yield client


@pytest.fixture
def checked_topic(checking_target: Target, unique: Callable[[str], str]) -> str:
    """Return a new topic of the broker that checks often."""
    return create_topic(checking_target, unique("topic"))


@pytest.fixture
def sql_client(filtering_target: Target) -> Iterator[Client]:
    """Yield a connection to a broker that filters."""
    with filtering_target.connect_to_broker() as client:
        yield client


@pytest.fixture(scope=scope_of_change)
def unusual_topic(filtering_target: Target, unique: Callable[[str], str]) -> SqlTopic:
    """Return a topic of unusual texts, whose connection has ended."""
    with filtering_target.connect_to_broker() as client:
        return create_sql_topic(filtering_target, client, unique("unusual"), UNUSUAL)


@pytest.fixture
def unusual(
    request: pytest.FixtureRequest, unusual_topic: SqlTopic, sql_client: Client
) -> SqlTopic:
    """Return the topic of unusual texts, over a fresh connection."""
    return sql_topic_over(request, unusual_topic, sql_client)


def sql_topic_over(
    request: pytest.FixtureRequest, sql_topic: SqlTopic, client: Client
) -> SqlTopic:
    """Return *sql_topic* over the connection *client*.

    The running test is blocked where the broker refuses expressions, unless it is about
    the clause of these.
    """
    if "PULL-SQL-001" not in clauses_of(request.node):
        need_sql_pulls(client, sql_topic.topic)
    return replace(sql_topic, broker=client)


@pytest.fixture
def lock_expiry(pytestconfig: pytest.Config) -> LockExpiry:
    """Return the ends of locks, which were requested when the run began."""
    seen = result_of(pytestconfig, "lock_expiry")
    assert isinstance(seen, LockExpiry)
    return seen


def pytest_collection_finish(session: pytest.Session) -> None:
    """Lock queues and pop now, so that no test waits long for what follows."""
    begin(session, {"lock_expiry": watch}, lambda target: target.broker is not None)
    begin(session, {revival.NAME: revival.watch}, revival.allows)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """End the observation of locks."""
    end(session, exitstatus)
