"""Subscription expressions and the messages they select."""

from __future__ import annotations

import pytest

from reference.core.client.pull.subscription import (
    matches_tags,
    subscription_of,
)
from reference.core.client.remoting.errors import ClientError
from reference.tests.client.peers import offset_of, record
from reference.tests.client.push_peers import PushPeers
from reference.tests.client.routes import route_of
from spec.wire.remoting.command import Command


def test_an_expression_is_taken_apart() -> None:
    found = subscription_of("T", " A||B ||  || A", version=1)
    assert found.tags == ("A", "B")
    assert found.codes == (65, 66)
    assert not matches_tags(found, {})
    assert matches_tags(subscription_of("T", "*", version=1), {})


def test_only_blanks_of_java_are_cut_from_a_tag() -> None:
    found = subscription_of("T", "\t\u3000A\0 || B\u3000\n", version=1)
    assert found.tags == ("\u3000A", "B\u3000")


def test_tags_of_the_same_hash_are_told_apart() -> None:
    peers = PushPeers(from_first=True, expression="Aa || C")
    peers.start()
    peers.find(peers.pull(), record(0, tag="Aa"), record(1, tag="BB"), record(2))
    (delivery,) = peers.delivered()
    assert [one.properties for one in delivery.messages] == [{"TAGS": "Aa"}]


def test_an_expression_that_is_no_tags_stays_as_it_is() -> None:
    found = subscription_of("T", " a = 'A||B'", version=1, expression_type="SQL92")
    assert (found.expression, found.expression_type) == (" a = 'A||B'", "SQL92")
    assert (found.tags, found.codes) == ((), ())
    assert matches_tags(found, {})


def test_only_a_broker_that_knows_sql_is_asked_by_sql() -> None:
    peers = PushPeers(from_first=True, expression="a = 1", expression_type="SQL92")
    peers.start()
    assert offset_of(peers.pull()) == 0
    peers.world.routes.versions = dict.fromkeys(peers.world.routes.versions, 231)
    (address,) = peers.world.routes.versions
    peers.world.receive(address, Command(code=40, fields={"consumerGroup": "g"}))
    peers.go_on()
    assert peers.pulls == []


@pytest.mark.parametrize("code", [0, 1])
def test_a_broker_checks_an_expression_that_is_not_of_tags(code: int) -> None:
    peers = PushPeers(expression="a = 1", expression_type="SQL92")
    world = peers.world
    call = peers.world.begin(peers.consumer.check_expression())
    world.give_route(route_of("a"))
    check = world.sent_request()
    assert check.command.code == 46
    assert b'"subString":"a = 1"' in check.command.body
    world.response(check, code)
    world.sent_requests()
    assert isinstance(world.finished[call], ClientError) is bool(code)


def test_an_expression_of_tags_is_not_checked() -> None:
    peers = PushPeers(expression="A")
    call = peers.world.begin(peers.consumer.check_expression())
    assert peers.world.sent_requests() == []
    assert peers.world.finished == {call: None}


def test_an_expression_is_not_checked_without_a_route() -> None:
    peers = PushPeers(expression="a = 1", expression_type="SQL92")
    call = peers.world.begin(peers.consumer.check_expression())
    peers.world.give_route(None)
    assert peers.world.sent_requests() == []
    assert peers.world.finished == {call: None}
