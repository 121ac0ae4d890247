"""Subscription expressions and the messages they select."""

from __future__ import annotations

import pytest

from reference.core.client.pull.subscription import (
    matches_tags,
    subscription_of,
)
from reference.core.client.remoting.errors import ClientError
from reference.tests.client.reading import Reading, offset_of, record
from reference.tests.client.routes import route_of
from spec.wire.remoting.command import Command


def test_an_expression_is_taken_apart() -> None:
    found = subscription_of("T", " A||B ||  || A", version=1)
    assert found.tags == ("A", "B")
    assert found.codes == (65, 66)
    assert not matches_tags(found, {})
    assert matches_tags(subscription_of("T", "*", version=1), {})


def test_tags_of_the_same_hash_are_told_apart() -> None:
    reading = Reading(from_first=True, expression="Aa || C")
    reading.start()
    reading.find(reading.pull(), record(0, tag="Aa"), record(1, tag="BB"), record(2))
    (delivery,) = reading.delivered()
    assert [one.properties for one in delivery.messages] == [{"TAGS": "Aa"}]


def test_an_expression_that_is_no_tags_stays_as_it_is() -> None:
    found = subscription_of("T", " a = 'A||B'", version=1, expression_type="SQL92")
    assert (found.expression, found.expression_type) == (" a = 'A||B'", "SQL92")
    assert (found.tags, found.codes) == ((), ())
    assert matches_tags(found, {})


def test_only_a_broker_that_knows_sql_is_asked_by_sql() -> None:
    reading = Reading(from_first=True, expression="a = 1", expression_type="SQL92")
    reading.start()
    assert offset_of(reading.pull()) == 0
    reading.world.routes.versions = dict.fromkeys(reading.world.routes.versions, 231)
    (address,) = reading.world.routes.versions
    reading.world.receive(address, Command(code=40, fields={"consumerGroup": "g"}))
    reading.go_on()
    assert reading.pulls == []


@pytest.mark.parametrize("code", [0, 1])
def test_a_broker_checks_an_expression_that_is_not_of_tags(code: int) -> None:
    reading = Reading(expression="a = 1", expression_type="SQL92")
    world = reading.world
    call = reading.world.begin(reading.consumer.check_expression())
    world.give_route(route_of("a"))
    check = world.question()
    assert check.command.code == 46
    assert b'"subString":"a = 1"' in check.command.body
    world.response(check, code)
    world.questions()
    assert isinstance(world.finished[call], ClientError) is bool(code)


def test_an_expression_of_tags_is_not_checked() -> None:
    reading = Reading(expression="A")
    call = reading.world.begin(reading.consumer.check_expression())
    assert reading.world.questions() == []
    assert reading.world.finished == {call: None}


def test_an_expression_is_not_checked_without_a_route() -> None:
    reading = Reading(expression="a = 1", expression_type="SQL92")
    call = reading.world.begin(reading.consumer.check_expression())
    reading.world.give_route(None)
    assert reading.world.questions() == []
    assert reading.world.finished == {call: None}
