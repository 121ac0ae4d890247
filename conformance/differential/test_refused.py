"""Requests that a foreign target lacks or is too busy for: no findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from conformance.differential.compare import Counts, Pair
from conformance.differential.report import lines, report_of
from conformance.differential.run import Outcome
from conformance.differential.steps.step import Response, Step
from conformance.differential.steps.wrong import Wrong
from conformance.differential.world import World
from conformance.harness.targets.target import Target
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

LACKING = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
MINE, THEIRS = "mine", "theirs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted(Step):
    """Request with a response code of each target."""

    codes: tuple[int, int]

    kind: ClassVar[str] = "consume stats"

    def invoke(self, world: World) -> Response:
        """Return the response of the target of *world*."""
        return Command(code=self.codes[world.target.text != MINE])


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Scripted):
    """The same, of a request that changes the state of its target."""

    kind: ClassVar[str] = "lock queues"
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Wrong):
    """Request with a code that no release has."""

    def invoke(self, world: World) -> Response:
        """Return the response of the target of *world*."""
        return Command(code=LACKING if world.target.text == MINE else 0)


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Return a foreign target beside another one; programs have no beginning."""
    monkeypatch.setattr("conformance.differential.compare.PROLOGUE", ())
    monkeypatch.setattr("conformance.differential.compare.EPILOGUE", ())
    mine, theirs = Target(MINE), Target(THEIRS)
    mine.is_foreign = True
    return Pair(mine, theirs, "r")


def test_a_request_that_a_foreign_target_lacks_is_not_compared(pair: Pair) -> None:
    different = Scripted(codes=(0, 1))
    program_run = pair.compare((Scripted(codes=(LACKING, 0)), different))
    assert program_run.difference is not None
    assert program_run.difference.target == "0 SUCCESS"
    assert pair.counts.refused == ({"consume stats"}, set())
    assert pair.counts.steps.total() == pair.counts.successes == 1


def test_a_change_that_one_target_lacks_ends_the_program(pair: Pair) -> None:
    program_run = pair.compare((Change(codes=(LACKING, 0)), Scripted(codes=(0, 1))))
    assert program_run.parted
    assert program_run.difference is None


def test_a_change_that_both_targets_lack_does_not(pair: Pair) -> None:
    pair.against.is_foreign = True
    both = Change(codes=(LACKING, LACKING))
    program_run = pair.compare((both, Scripted(codes=(0, 1))))
    assert program_run.difference is not None
    assert pair.counts.refused == ({"lock queues"}, {"lock queues"})


def test_a_busy_target_is_not_compared(pair: Pair) -> None:
    program_run = pair.compare((Scripted(codes=(ResponseCode.SYSTEM_BUSY, 0)),))
    assert program_run.difference is None
    assert pair.counts.refused == ({"consume stats (SYSTEM_BUSY)"}, set())
    assert pair.counts.always_busy == ["consume stats"]
    pair.compare((Scripted(codes=(0, 0)),))
    assert not pair.counts.always_busy


def test_a_refusal_of_a_target_of_known_release_is_a_difference(pair: Pair) -> None:
    pair.target.is_foreign = False
    program_run = pair.compare((Scripted(codes=(LACKING, 0)),))
    assert program_run.difference is not None


def test_a_refused_code_that_no_release_has_is_a_difference(pair: Pair) -> None:
    program_run = pair.compare((Unknown(),))
    assert program_run.difference is not None
    assert pair.counts.refused == (set(), set())


def test_the_report_names_requests_that_were_not_compared() -> None:
    counts = Counts(programs=1, refused=({"lock queues", "topic stats"}, set()))
    counts.steps["create topic"] = 1
    outcome = Outcome(seed=0, examples=1, counts=counts, releases=("4.6.0", "4.6.0"))
    reported = list(lines(outcome, target=MINE, against=THEIRS))
    assert "not compared, refused by mine: lock queues, topic stats" in reported
    assert reported[-1].startswith("no verdict: ")
    report = report_of(outcome, target=MINE, against=THEIRS, command="rmqc test")
    assert report["refused"] == {
        "target": ["lock queues", "topic stats"],
        "against": [],
    }


def test_a_run_has_a_verdict_once_it_compared_more_than_each_beginning() -> None:
    counts = Counts(programs=1)
    outcome = Outcome(seed=0, examples=1, counts=counts, releases=("4.6.0", "4.6.0"))
    counts.steps["update group"] = 1
    assert not outcome.has_verdict
    counts.steps["max offset"] = counts.successes = 1
    assert outcome.has_verdict


def test_a_run_has_no_verdict_if_both_targets_refuse_each_request() -> None:
    counts = Counts(programs=1)
    outcome = Outcome(seed=0, examples=1, counts=counts, releases=("4.6.0", "4.6.0"))
    counts.steps["max offset"] = 1
    assert not outcome.has_verdict
    reported = list(lines(outcome, target=MINE, against=THEIRS))
    assert reported[-1].startswith("no verdict: no request succeeded on either target")


def test_a_run_has_no_verdict_about_a_request_that_is_always_busy() -> None:
    counts = Counts(programs=1, refused=({"lock queues (SYSTEM_BUSY)"}, {"delete"}))
    outcome = Outcome(seed=0, examples=1, counts=counts, releases=("4.6.0", "4.6.0"))
    counts.steps["max offset"] = counts.successes = 1
    assert not outcome.has_verdict
    reported = list(lines(outcome, target=MINE, against=THEIRS))
    assert reported[-1].startswith("no verdict: always busy for lock queues (seed ")
    counts.compared.add("lock queues")
    assert outcome.has_verdict
