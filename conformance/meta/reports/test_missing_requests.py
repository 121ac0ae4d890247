"""The list of requests that a target lacks, in the summary and the page of a run."""

from __future__ import annotations

import pytest

from conformance.harness.report.missing_requests import missing_requests, requests_in
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages.run_page import run_page
from conformance.harness.report.report_json import ClauseEntry, Report, TargetEntry
from conformance.meta.reports.made_results import result

PULL = "the target refuses the request PULL_MESSAGE"
VIEW = "blocked by QUERY-ID-001, VIEW_MESSAGE_BY_ID: refused with code 3: unsupported"
BOTH = "the target refuses the request PULL_MESSAGE, SEND_BATCH_MESSAGE"
OTHER = "made.toml does not allow: config"
RESULTS = [
    result("PULL-FOUND-001", "unsupported", reason=PULL),
    result("PULL-FOUND-002", "unsupported", reason=PULL),
    result("QUERY-ID-001", "blocked", reason=VIEW),
    result("SEND-BATCH-001", "unsupported", reason=BOTH),
    result("STORE-CRC-001", "unsupported", reason=OTHER),
    result("WIRE-FRAME-001", "fail", reason=PULL),
]


def test_the_request_with_most_clauses_comes_first() -> None:
    found = [(one.name, one.alone, one.together) for one in missing_requests(RESULTS)]
    assert found == [
        ("PULL_MESSAGE", 2, 1),
        ("VIEW_MESSAGE_BY_ID", 1, 0),
        ("SEND_BATCH_MESSAGE", 0, 1),
    ]


@pytest.mark.parametrize(
    ("reason", "names"),
    [
        (BOTH, ["PULL_MESSAGE", "SEND_BATCH_MESSAGE"]),
        ("UNREGISTER_BROKER: refused with code 3", ["UNREGISTER_BROKER"]),
        ("UNREGISTER_BROKER: refused with code 13: full", []),
        ("UNREGISTER_BROKER: refused with code 31: full", []),
        ("silence: refused with code 3: unsupported", []),
        (OTHER, []),
    ],
)
def test_a_reason_has_the_names_of_lacking_requests(
    reason: str, names: list[str]
) -> None:
    assert requests_in(reason) == names


@pytest.mark.parametrize(
    ("suffix", "row"),
    [
        (".md", "| PULL_MESSAGE | 2 | 1 |"),
        (".html", '<code>PULL_MESSAGE</code></th><td class="number">2</td>'),
    ],
)
def test_page_and_summary_list_them_in_place_of_their_reasons(
    suffix: str, row: str
) -> None:
    page = run_page(made_report(RESULTS), suffix)
    assert row in page
    assert page.count(OTHER) == {".md": 1, ".html": 2}[suffix]
    assert page.count(PULL) == {".md": 0, ".html": 4}[suffix]


def test_without_missing_requests_no_reason_is_another() -> None:
    alone = [one for one in RESULTS if one.reason == OTHER]
    for results, title in ((RESULTS, "Other reasons"), (alone, "Reasons")):
        page = run_page(made_report(results), ".html")
        assert f"<summary>{title} for clauses without a verdict: 1" in page


def made_report(results: list[ClauseEntry]) -> Report:
    """Return the report of a run with these *results*."""
    return Report(
        target=TargetEntry(text="made", release="4.6.0"),
        suite_version="1",
        command="rmqc test",
        results=results,
        totals={one.value: 0 for one in Outcome},
    )
