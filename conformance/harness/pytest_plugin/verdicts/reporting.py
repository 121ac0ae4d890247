"""
Report of one phase of a test: its verdict, and its text in place of a traceback.

A failure whose cause is elsewhere is not charged to the test's clauses. In this order:
the target broke, it lacks a request, it does not meet a precondition.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from conformance.harness.baseline.baseline import Defect, load
from conformance.harness.baseline.refusing_settings import (
    refused_access,
    refusing_settings,
)
from conformance.harness.baseline.signs import clauses_seen_in
from conformance.harness.baseline.steps import NEW_ROUTE_STEP, SENDS
from conformance.harness.baseline.unknown_codes import explained_by
from conformance.harness.blocked.guard import GUARD, without_verdict
from conformance.harness.blocked.hidden_addresses import hidden_address
from conformance.harness.blocked.known_refusals import (
    busy_in_test,
    refusal_in_test,
    refusal_of_unsigned,
)
from conformance.harness.blocked.preconditions import PRECONDITION_ERRORS, first_line
from conformance.harness.blocked.skips import blocked
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.exchanges import sent_codes
from conformance.harness.client.peer_errors import PeerError
from conformance.harness.client.requests.invoker import RefusedError
from conformance.harness.client.transcript import Transcript
from conformance.harness.failure import artifacts
from conformance.harness.pytest_plugin.collection.selection import (
    applicable,
    clauses_of,
)
from conformance.harness.pytest_plugin.fixtures import OPTIONS, TARGET_OWNER
from conformance.harness.pytest_plugin.options import suite_of
from conformance.harness.pytest_plugin.verdicts import verdict as verdicts
from conformance.harness.report.known_failures import Known, reason_for
from conformance.harness.report.outcome import VERDICTS, Outcome
from conformance.harness.report.run_record import Verdict
from conformance.harness.targets.client_adapter import AdapterError
from spec.registry import all_clauses
from spec.wire.remoting.request_code import RequestCode

OF_A_STORE = (
    *SENDS,
    RequestCode.PULL_MESSAGE,
    RequestCode.GET_MIN_OFFSET,
    RequestCode.GET_MAX_OFFSET,
)
"""Requests by which a store is written, and its queues are observed."""
STORES = frozenset({"files", "readable", "aged", "filled"})
"""Fixtures of stores that were written before the test."""
FIXTURE_CODES = pytest.StashKey[dict[pytest.FixtureDef[object], set[int]]]()
"""Codes of the requests that each fixture has sent."""
KNOWN = pytest.StashKey[tuple[Known, ...]]()
OUTCOME = pytest.StashKey[Outcome]()
"""Outcome of a test before its cleanup."""
UNMET = (Outcome.FAIL, Outcome.ERROR)


def add_verdict(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> None:
    """Give *report* of a phase of *item* the verdict and its text."""
    attributes = vars(report)  # pytest carries them from worker to controller
    found = item.config.stash[GUARD].take_found()
    attributes["conformance_before"] = [one.dump() for one in found]
    if forgive_cleanup(item, call, report):
        return
    clauses = clauses_about_target(item)
    verdict = verdicts.verdict_of(
        item,
        call,
        report,
        clauses=clauses,
        charges_all=item.config.stash[OPTIONS].until_failed,
    )
    if verdict is None:
        return
    verdict = _about_target(verdict, item)
    if verdict.outcome in UNMET:
        error = call.excinfo.value if call.excinfo is not None else None
        verdict = _with_cause(verdict, item, error)
    elif verdict.outcome is Outcome.BLOCKED:
        verdict = _unsupported(verdict, item) or _of_busy(verdict, item)
    if verdict.outcome in UNMET:
        verdict = _explained(verdict, item, call, report)
    elif verdict.outcome not in VERDICTS:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, f"Skipped: {verdict.reason}")
    item.stash[OUTCOME] = verdict.outcome
    attributes["conformance"] = verdict.dump()


def forgive_cleanup(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> bool:
    """Return whether *report* is of a cleanup whose request the target did not fulfil.

    The test has its verdict by then, so its phase passes. The text stays as a section.
    A target that a passed test leaves unreachable is not forgiven: the test broke it.
    """
    error = call.excinfo.value if call.excinfo is not None else None
    has_passed = item.stash.get(OUTCOME, None) is Outcome.PASS
    unfulfilled = (
        PRECONDITION_ERRORS if has_passed else (*PRECONDITION_ERRORS, PeerError)
    )
    if report.when != "teardown" or not isinstance(error, unfulfilled):
        return False
    report.sections.append(("cleanup", first_line(error)))
    report.outcome, report.longrepr = "passed", None
    return True


def clauses_about_target(item: pytest.Item) -> list[str]:
    """Return the clauses of *item* about the target's release; all where none is."""
    named = clauses_of(item)
    description = item.config.stash[TARGET_OWNER].description
    if "release" not in description:
        return named
    beyond = item.config.stash[OPTIONS].beyond_range
    releases = description["release"], description.get("stated_release", "")
    return applicable(named, releases, beyond=beyond) or named


def _about_target(verdict: Verdict, item: pytest.Item) -> Verdict:
    """Return *verdict*, or none if all that failed are clauses about other releases."""
    others = set(clauses_of(item)).difference(verdict.clauses)
    if not verdict.blamed or not others.issuperset(verdict.blamed):
        return verdict
    reason = f"it ends at {', '.join(verdict.blamed)}, about other releases"
    return without_verdict(verdict, Outcome.UNSUPPORTED, reason)


def _with_cause(
    verdict: Verdict, item: pytest.Item, error: BaseException | None
) -> Verdict:
    """Return *verdict* of a failed test, changed where its cause is elsewhere."""
    is_watched = suite_of(item) and not item.config.stash[OPTIONS].until_failed
    if is_watched:
        verdict = item.config.stash[GUARD].after(verdict)
        if verdict.broke or verdict.outcome not in UNMET:
            return verdict
    CONVERSATIONS.receive_waiting()
    required = "" if isinstance(error, RefusedError) else _texts_of_clauses(item)
    if unsupported := _unsupported(verdict, item, required):
        return unsupported
    is_foreign = bool(item.config.stash[TARGET_OWNER].description.get("is_foreign"))
    if suite_of(item) != "security" and (
        refused := refused_access(is_foreign=is_foreign)
    ):
        return without_verdict(verdict, Outcome.BLOCKED, refused)
    defect = defect_behind(verdict, item) if is_watched else None
    if defect is None and verdict.outcome is Outcome.ERROR and is_watched:
        defect = _unusable_part(error, item)
    if defect is None:
        return _of_busy(verdict, item)
    if defect.clause not in clauses_of(item):
        return without_verdict(verdict, Outcome.BLOCKED, defect.reason)
    return replace(verdict, blamed=[defect.clause])


def _unsupported(
    verdict: Verdict, item: pytest.Item, required: str = ""
) -> Verdict | None:
    """Return *verdict* as unsupported if the target refused a request of *item*.

    A response code that the text *required* names explains no wrong response.
    """
    owner = item.config.stash[TARGET_OWNER]
    refused = refusal_in_test(owner.description)
    if refused is None and suite_of(item) != "security":
        refused = refusal_of_unsigned(owner.description)
    if not refused and "error" not in owner.description:
        target = owner.target()
        refused = refusing_settings(target, required)
        refused = refused or hidden_address(target, verdict.expected)
    if not refused:
        return None
    return without_verdict(verdict, Outcome.UNSUPPORTED, refused)


def _of_busy(verdict: Verdict, item: pytest.Item) -> Verdict:
    """Return *verdict*, or none if the target was busy at a request of *item*.

    A target that is busy at the baseline has that defect as the cause. A clause about
    the response requires it.
    """
    description = item.config.stash[TARGET_OWNER].description
    reason = busy_in_test(description, _texts_of_clauses(item))
    if reason is None or defect_behind(verdict, item) is not None:
        return verdict
    return without_verdict(verdict, Outcome.BLOCKED, reason)


def _texts_of_clauses(item: pytest.Item) -> str:
    return "\n".join(all_clauses()[name].text for name in clauses_of(item))


def block_before(item: pytest.Item) -> None:
    """Block *item* if the baseline received no response from a server at all."""
    defects = load(item.config.stash[TARGET_OWNER].description.get("baseline", ""))
    hopeless = [one for one in defects if one.blocks_all]
    if hopeless and not {one.clause for one in hopeless}.intersection(clauses_of(item)):
        blocked(hopeless[0].reason)


@contextmanager
def noted_requests(
    config: pytest.Config, fixture: pytest.FixtureDef[object]
) -> Iterator[None]:
    """Note the codes of the requests that are sent meanwhile, for *fixture*.

    The defects of the baseline explain failures by the requests of a test. Some of them
    were sent by a fixture, which may have been set up for an earlier test.
    """
    description = config.stash[TARGET_OWNER].known_description
    if not load(description.get("baseline", "")):
        yield
        return
    before = sent_codes(CONVERSATIONS.transcripts())
    try:
        yield
    finally:
        codes = config.stash.setdefault(FIXTURE_CODES, {})
        sent = sent_codes(CONVERSATIONS.transcripts()) - before
        codes[fixture] = codes.get(fixture, set()) | sent


def _codes_behind(item: pytest.Item, transcripts: list[Transcript]) -> set[int]:
    """Return the codes of the requests of *item* and of its fixtures.

    Some stores were written and observed before, in another thread or worker.
    """
    by_fixture = item.config.stash.get(FIXTURE_CODES, {})
    # Files have different fixtures of one name. pytest lists those of each test.
    named = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009
    before = (
        OF_A_STORE if STORES.intersection(getattr(item, "fixturenames", ())) else ()
    )
    return sent_codes(transcripts).union(
        before,
        *(by_fixture.get(one, ()) for fixtures in named for one in fixtures[-1:]),
    )


def defect_behind(verdict: Verdict, item: pytest.Item) -> Defect | None:
    """Return the defect of the baseline by which *item* may have failed.

    A defect whose clause the test names comes first.
    """
    description = item.config.stash[TARGET_OWNER].description
    defects = load(description.get("baseline", ""))
    transcripts = CONVERSATIONS.transcripts()
    codes, seen = _codes_behind(item, transcripts), clauses_seen_in(transcripts)
    seen |= explained_by(
        {one.clause for one in defects},
        transcripts,
        namesrv=description.get("namesrv", ""),
        access=description.get("access", ""),
    )
    behind = [
        one
        for one in defects
        if one.explains(codes, verdict.values)
        or one.clause in verdict.blamed
        or one.clause in seen
    ]
    named = clauses_of(item)
    behind.sort(key=lambda one: one.clause not in named)
    return next(iter(behind), None)


def _unusable_part(error: BaseException | None, item: pytest.Item) -> Defect | None:
    """Return the first part of the target that is of no use, behind an error of ours.

    A test expects the responses of a target that has this part. *error* is then most
    likely a response that the test cannot read.
    """
    if isinstance(error, verdicts.TARGET_ERRORS):
        return None
    defects = load(item.config.stash[TARGET_OWNER].description.get("baseline", ""))
    total = (
        one
        for one in defects
        # A new topic may do without its route for a while.
        if one.is_total and not one.is_narrow and one.step != NEW_ROUTE_STEP
    )
    return next(total, None)


def _explained_error(
    verdict: Verdict,
    error: BaseException,
    item: pytest.Item,
    report: pytest.TestReport,
) -> Verdict:
    """Return *verdict* of an error of our own with its traceback and the last frames.

    The reason of an adapter's error has its state and the request. Such an error has
    no traceback, which *report* loses too. Its test is named instead.
    """
    transcript = CONVERSATIONS.latest()
    frames = transcript.render() if transcript is not None else ""
    is_adapters = isinstance(error, AdapterError)
    traceback = "" if is_adapters else report.longreprtext
    parts = filter(None, [verdict.reason, traceback, frames])
    text = "\n\n".join(parts)[: verdicts.TEXT_LIMIT]
    if is_adapters:
        options = item.config.stash[OPTIONS]
        rows = verdicts.last_rows(item, options, artifacts.NOTHING)
        text = "\n\n".join([text, verdicts.sentence_of(item), rows])
        report.longrepr = text
    return replace(verdict, text=text)


def _explained(
    verdict: Verdict,
    item: pytest.Item,
    call: pytest.CallInfo[None],
    report: pytest.TestReport,
) -> Verdict:
    """Return *verdict* with the text of its failure, which *report* gets too."""
    if call.excinfo is None:
        return verdict
    if verdict.outcome is Outcome.ERROR:
        return _explained_error(verdict, call.excinfo.value, item, report)
    options = item.config.stash[OPTIONS]
    error, blamed = call.excinfo.value, verdict.blamed
    kept = artifacts.keep(options.report, item, error, blamed)
    text: str | None = verdict.text
    if not verdict.broke:
        text = verdicts.text_of_error(error, item, options, clauses=blamed, kept=kept)
    report.longrepr = text or verdicts.text_of_traceback(
        report.longreprtext, item, options, clauses=blamed, kept=kept
    )
    explained = replace(
        verdict,
        text=report.longreprtext[: verdicts.TEXT_LIMIT],
        again=verdicts.again(item, options),
        capture=kept.capture,
        vector=kept.vector,
    )
    reason = reason_for(
        item.config.stash[KNOWN],
        blamed,
        target=options.target,
        release=item.config.stash[TARGET_OWNER].description.get("release", ""),
    )
    if reason is None:
        return explained
    report.outcome = "skipped"
    report.wasxfail = reason  # pytest's own mark of an expected failure
    return replace(explained, outcome=Outcome.KNOWN, reason=reason)
