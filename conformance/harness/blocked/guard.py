"""
Guard of the run's target: a target that breaks is one finding.

After a failure, and after each test on a foreign target, it checks the target's
health. The test that broke the target fails, with the target's exit status and last
output. A target that is started from here is replaced, and the run goes on. On any
other, later tests are *blocked*.

Several workers share one target at first. When it breaks, each worker starts a target
of its own and repeats the test that ran meanwhile. Only the test that breaks a target
again fails. If none does, the end of the shared target is an error, because it stays
unknown which test caused it. Where no other target can be started, the first worker to
detect the break names the test.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from _pytest.runner import runtestprotocol

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.process.deadline import comes_true
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import BROKEN, SINCE, Verdict
from conformance.harness.targets.shared_target import TargetOwner
from conformance.harness.targets.target import Capability, TargetError

RECHECK_S = 5.0
"""Time between two checks of a target that has broken and cannot be replaced."""
RECHECK_PATIENCE_S = 1.0
RETURN_S = 10.0
"""Wait for a broken target that something else may start again.

Without it, all tests are blocked before a broker has restarted.
"""
_ENDED = re.compile(r"ended with exit status -?\d+")
GUARD = pytest.StashKey["Guard"]()


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """End or hang of the target."""

    test: str
    problem: str

    @property
    def reason(self) -> str:
        """Reason why a later test has no verdict."""
        return f"{self.problem}{SINCE}{self.test}"


class Guard:
    """Guard of the target of one worker."""

    def __init__(self, owner: TargetOwner, *, record: Path | None) -> None:
        self._owner = owner
        self._record = record
        """File in which the workers of a run share the first break."""
        self._break: Break | None = None
        self._has_begun = False
        self._checked_at = 0.0
        self._may_return = False
        """Whether the first check after a break is still to come."""
        self._previous: Verdict | None = None
        self.must_repeat = False
        """Whether the running test is to run again, on a target of this worker."""
        self._found: list[Verdict] = []
        self._shared_breaks: list[Verdict] = []

    def before(self, test: str, clauses: list[str]) -> None:
        """Block *test* where the target is broken and cannot be replaced."""
        self.must_repeat = False
        if not self._is_watched():
            return
        if not self._has_begun:
            self._begin()
        self.check_previous()
        if self._break is not None:
            self._recheck()
        if self._break is not None:
            blocked(self._break.reason)
        self._previous = Verdict(
            test=test, clauses=clauses, outcome=Outcome.PASS, duration_s=0.0
        )

    def _begin(self) -> None:
        """Take over the break that the baseline caused, if it did."""
        self._has_begun = True
        if problem := self._owner.description.get("broken"):
            self._break = Break(test="the baseline", problem=problem)

    def check_previous(self) -> None:
        """Find out whether a foreign target broke at the end of the previous test."""
        previous, is_known = self._previous, self._break or self.must_repeat
        if is_known or previous is None or not self._owner.target().is_foreign:
            return
        was_shared = self._owner.is_shared
        verdict = self.after(previous)
        self.must_repeat = False
        is_replaced = self._break is None
        if verdict.outcome is Outcome.FAIL and not (was_shared and is_replaced):
            self._found.append(verdict)

    def take_found(self) -> list[Verdict]:
        """Return new verdicts about tests that had passed before the target broke."""
        found, self._found = self._found, []
        return found

    def take_shared_breaks(self) -> list[Verdict]:
        """Return new verdicts of tests that ran when the shared target broke."""
        breaks, self._shared_breaks = self._shared_breaks, []
        return breaks

    def after(self, verdict: Verdict) -> Verdict:
        """Return *verdict* of a failed test, changed where the target has broken."""
        if not self._is_watched():
            return verdict
        problem = self._owner.watch().problem()
        if not problem:
            return verdict
        report = self._owner.end_report()
        was_shared = self._owner.is_shared
        try:
            self._owner.replace()
        except TargetError as error:
            return self._left_broken(verdict, problem, str(error))
        self.must_repeat = was_shared
        verdict = broken(verdict, problem, report)
        if was_shared:
            self._shared_breaks.append(verdict)
        return verdict

    def _left_broken(self, verdict: Verdict, problem: str, why: str) -> Verdict:
        first = self._first_break(Break(test=verdict.test, problem=problem))
        self._break, self._may_return = first, True
        if first.test != verdict.test:
            return without_verdict(verdict, Outcome.BLOCKED, first.reason)
        return broken(verdict, problem, self._owner.end_report(), why)

    def _first_break(self, found: Break) -> Break:
        """Return the break that a worker recorded first, which may be *found*."""
        if self._record is None:
            return found
        with NamedTemporaryFile("w", dir=self._record.parent, encoding="utf-8") as own:
            json.dump({"test": found.test, "problem": found.problem}, own)
            own.flush()
            try:
                os.link(own.name, self._record)  # others find a whole record, or none
            except FileExistsError:
                return _read(self._record) or found
        return found

    def _recheck(self) -> None:
        """Forget the break where the target responds again."""
        if not self._may_return and time.monotonic() - self._checked_at < RECHECK_S:
            return
        patience_s = RETURN_S if self._may_return else 0
        watch = self._owner.watch()
        responds = comes_true(lambda: not watch.problem(RECHECK_PATIENCE_S), patience_s)
        self._checked_at, self._may_return = time.monotonic(), False
        if responds:
            self._break = None
            if self._record is not None:
                self._record.unlink(missing_ok=True)

    def _is_watched(self) -> bool:
        description = self._owner.description
        capabilities = description.get("capabilities", "").split(",")
        return "error" not in description and Capability.WIRE in capabilities


def _read(record: Path) -> Break | None:
    try:
        values: Mapping[str, str] = json.loads(record.read_text(encoding="utf-8"))
        return Break(test=values["test"], problem=values["problem"])
    except FileNotFoundError:  # the target responds again
        return None


def broken(verdict: Verdict, problem: str, report: str, why: str = "") -> Verdict:
    """Return the failure of the test that broke the target.

    *report* is that of programs that ended, *why* the reason why none can replace them.
    """
    transcript = CONVERSATIONS.latest()
    frames = transcript.render() if transcript is not None else ""
    heading = f"The target broke while {verdict.test} ran: {problem}."
    ended = _ENDED.search(report)
    _, has_log, last_line = report.rstrip().rpartition("\n")
    last_words = f": {last_line.strip()}" if has_log else ""
    parts = [heading, report or why, frames]
    return Verdict(
        test=verdict.test,
        clauses=verdict.clauses,
        outcome=Outcome.FAIL,
        duration_s=verdict.duration_s,
        blamed=(verdict.blamed or verdict.clauses)[:1],
        broke=problem,
        found=f"it {ended[0]}{last_words}; {problem}" if ended else problem,
        expected=BROKEN,
        text="\n\n".join(filter(None, parts)),
    )


def unrepeated(verdict: Verdict, report: str) -> Verdict:
    """Return the error of a test that ran when the shared target ended, never again.

    *report* is that of the program that ended.
    """
    found = broken(verdict, verdict.broke, report)
    reason = f"the target ended while this test or another one ran: {found.found}"
    return replace(found, outcome=Outcome.ERROR, blamed=[], broke="", reason=reason)


def without_verdict(verdict: Verdict, outcome: Outcome, reason: str) -> Verdict:
    """Return *verdict* as of a test that ended without one."""
    return Verdict(
        test=verdict.test,
        clauses=verdict.clauses,
        outcome=outcome,
        duration_s=verdict.duration_s,
        reason=reason,
    )


def run_guarded(item: pytest.Item, nextitem: pytest.Item | None, guard: Guard) -> None:
    """Run *item* and log its reports.

    If the target broke meanwhile, another worker's test may be the reason. Then *item*
    runs again on the target of this worker, and only those reports count.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if guard.must_repeat:
        guard.must_repeat = False
        _forget_fixtures(item)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    breaks = [one.dump() for one in guard.take_shared_breaks()]
    vars(reports[-1])["conformance_breaks"] = breaks  # pytest carries them, too
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _forget_fixtures(item: pytest.Item) -> None:
    """Make *item* as it was before its first run."""
    if isinstance(item, pytest.Function):
        item._initrequest()
