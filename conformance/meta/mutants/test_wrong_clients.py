"""
Each wrong client is recorded as detected; clauses that only they show to fail do fail.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.report.outcome import Outcome
from conformance.harness.targets.target import TargetError
from conformance.wrong_clients.__main__ import keep, missed_by, recorded
from conformance.wrong_clients.wrong_client_target import WrongClientTarget
from conformance.wrong_clients.wrong_clients import ACK, POP, WRONG_CLIENTS
from spec.registry import all_clauses
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

OF_ASYNC_SENDS = {"CLIENT-RETRY-018", "CLIENT-RETRY-019"}
AGAIN = "python -m conformance.wrong_clients records it"


def test_every_wrong_client_is_recorded_as_detected() -> None:
    found = recorded()
    missed = {
        one.id: missed_by(one, found.get(one.id, {})) for one in WRONG_CLIENTS.values()
    }
    assert {name: clauses for name, clauses in missed.items() if clauses} == {}, AGAIN
    assert found.keys() == WRONG_CLIENTS.keys()


def test_every_clause_of_a_popping_client_is_seen_to_fail() -> None:
    of_pop = {name for name in all_clauses() if name.startswith("CLIENT-POP-")}
    caught = {name for one in WRONG_CLIENTS.values() for name in one.caught_by}
    assert caught == of_pop | OF_ASYNC_SENDS


@pytest.mark.parametrize("name", WRONG_CLIENTS)
def test_a_fault_leaves_other_requests_as_they_are(name: str) -> None:
    route = Command(code=RequestCode.GET_ROUTEINFO_BY_TOPIC, fields={"topic": "T"})
    assert list(WRONG_CLIENTS[name].fault(route, {})) == [route]


def test_a_target_keeps_the_last_request_of_each_code() -> None:
    target = WrongClientTarget("", "commit_of_a_popped_queue COMMAND")
    target._earlier = {}
    place = {"topic": "T", "consumerGroup": "g", "queueId": "3"}
    pop = Command(code=POP, fields=place)
    end = Command(code=RequestCode.UNREGISTER_CLIENT)
    assert list(target.altered(end)) == [end]
    assert list(target.altered(pop)) == [pop]
    commit, last = target.altered(end)
    assert last == end
    assert commit.code == RequestCode.UPDATE_CONSUMER_OFFSET
    assert commit.fields == {**place, "commitOffset": "1"}


def test_an_acknowledgement_can_be_lost_doubled_or_of_another_message() -> None:
    ack = Command(code=ACK, fields={"offset": "7", "topic": "T", "extraInfo": "1 2 7"})
    found = {
        name: [one.fields["offset"] for one in WRONG_CLIENTS[name].fault(ack, {})]
        for name in (
            "never_acknowledges",
            "acknowledgement_twice",
            "late_is_acknowledged",
        )
    }
    assert list(found.values()) == [[], ["7", "7"], ["6", "7"]]


@pytest.mark.parametrize("rest", ["", "no_such_fault COMMAND", "pop_twice"])
def test_a_wrong_client_needs_a_fault_and_a_command(rest: str) -> None:
    with pytest.raises(TargetError, match="ID COMMAND is required"):
        WrongClientTarget("", rest).launch()


def test_outcomes_are_kept_one_by_one_and_in_order(tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    first, second, *_ = WRONG_CLIENTS
    for name in (second, first):
        keep(name, {"CLIENT-POP-001": Outcome.PASS.value}, file)
    keep(second, {"CLIENT-POP-002": Outcome.FAIL.value}, file)
    assert list(recorded(file)) == [first, second]
    assert recorded(file)[second] == {"CLIENT-POP-002": "fail"}
    assert missed_by(WRONG_CLIENTS[first], recorded(file)[first]) == ["CLIENT-POP-001"]
