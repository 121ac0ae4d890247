"""
Pages of reports in a real browser: filters, unfolding, phones, dark mode, keys.

The page is one file that loads nothing. Any message on the browser's console fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages.matrix import matrix_of, read_linked, render
from conformance.harness.report.report import write_pages, write_report
from conformance.harness.report.report_json import (
    ClauseEntry,
    FailureEntry,
    Report,
    TargetEntry,
)
from conformance.interop.tools.chromium import chromium, opened
from spec.clause import Level

PHONE = 375
TEXT = (
    "WIRE-FRAME-002 is not met.\n  <script>document.title = 'x'</script> " + "7f " * 99
)
FAILURE = FailureEntry(
    test="test_it",
    expected="256",
    found="0",
    text=TEXT,
    again="rmqc test -k 'test_it'",
    capture="captures/test_it.pcapng",
)
OUTCOMES = {
    "WIRE-FRAME-001": "pass",
    "WIRE-FRAME-002": "fail",
    "WIRE-FRAME-008": "known",
    "WIRE-CONN-003": "not-applicable",
    "STORE-CRC-001": "unsupported",
    "STORE-RECORD-001": "pass",
}
COLUMNS = ("embedded:", "jvm:4.6.0", "jvm:5.3.3")


def report(outcomes: Mapping[str, str], target: str, at: str) -> Report:
    """Return the report of a run that had *outcomes*."""
    counted = list(outcomes.values())
    return Report(
        target=TargetEntry(text=target, release="4.6.0", capabilities=["wire"]),
        suite_version="0.1.0",
        at=at,
        command="rmqc test --target " + target + " --report " + "very/long/" * 20,
        results=[
            ClauseEntry(
                id=name,
                level=Level.MUST,
                outcome=Outcome(outcome),
                tests=["conformance/wire/test_frame.py::test_it[" + "x" * 90 + "]"],
                duration_s=0.1,
                reason="it is so" if outcome in ("known", "unsupported") else None,
                failure=FAILURE if outcome in ("fail", "known") else None,
            )
            for name, outcome in outcomes.items()
        ],
        totals={one: counted.count(one) for one in counted},
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Yield one browser for all tests."""
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of one run."""
    directory = tmp_path_factory.mktemp("run")
    write_pages(directory, report(OUTCOMES, "embedded:", "2026-11-21T20:00:00+00:00"))
    return directory / "report.html"


@pytest.fixture(scope="module")
def matrix_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the matrix of three targets, one of them with two runs."""
    directory = tmp_path_factory.mktemp("matrix")
    file = directory / "matrix.html"
    passed = dict.fromkeys(OUTCOMES, "pass")
    reports = {
        "former": report(passed, "embedded:", "2026-11-20T20:00:00+00:00"),
        "a b": report(OUTCOMES, "embedded:", "2026-11-21T20:00:00+00:00"),
        "c": report(passed, "jvm:4.6.0", "2026-11-21T20:00:00+00:00"),
        "d": report(passed, "jvm:5.3.3", "2026-11-21T20:00:00+00:00"),
    }
    files = [write_report(directory / name, one) for name, one in reports.items()]
    made = matrix_of(read_linked(files, file))
    file.write_text(render(made, ".html"), encoding="utf-8")
    return file


@pytest.fixture(params=["run_file", "matrix_file"])
def any_file(request: pytest.FixtureRequest) -> Path:
    """Return each of our pages."""
    file = request.getfixturevalue(request.param)
    assert isinstance(file, Path)
    return file


def shown(page: Page) -> list[str]:
    """Return the ids of the clauses that can be seen, as the page orders them."""
    found = page.locator("details.clause:visible > summary > code")
    return [str(text) for text in found.all_text_contents()]


def colours(page: Page) -> tuple[str, str]:
    """Return the colours of the page's ground and letters."""
    found = page.evaluate(
        "() => [document.body, document.querySelector('h1')]"
        ".map((one, i) => getComputedStyle(one)[i ? 'color' : 'backgroundColor'])"
    )
    return found[0], found[1]


def brightness(colour: str) -> int:
    """Return the sum of the three parts of ``rgb(1, 2, 3)``."""
    return sum(int(part) for part in colour.strip("rgba()").split(",")[:3])


def test_the_gravest_comes_first(browser: Browser, run_file: Path) -> None:
    with opened(browser, run_file) as page:
        assert shown(page)[:2] == ["WIRE-FRAME-002", "WIRE-FRAME-008"]
        assert page.title() == "embedded: as 4.6.0: 2 of 4 clauses"
        assert len(shown(page)) == len(OUTCOMES)


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("area", "STORE", ["STORE-RECORD-001", "STORE-CRC-001"]),
        ("outcome", "fail", ["WIRE-FRAME-002"]),
        ("level", "MUST", list(OUTCOMES)),
    ],
)
def test_a_filter_leaves_what_is_wanted(
    browser: Browser, run_file: Path, name: str, value: str, left: list[str]
) -> None:
    with opened(browser, run_file) as page:
        page.select_option(f"[name={name}]", value)
        assert sorted(shown(page)) == sorted(left)
        assert f"{name}={value}" in page.url
        page.click("button[type=reset]")
        expect(page.locator("output")).to_have_text("6 clauses")
        assert len(shown(page)) == len(OUTCOMES)


def test_words_and_counts_filter_too(browser: Browser, run_file: Path) -> None:
    with opened(browser, run_file) as page:
        page.fill("[name=text]", "low 24 BITS")
        assert shown(page) == ["WIRE-FRAME-002"]
        expect(page.locator("output")).to_have_text("1 of 6 clauses")
        page.click("button[aria-label='STORE: 1 unsupported']")
        expect(page.locator("output")).to_have_text("1 of 6 clauses")
        assert shown(page) == ["STORE-CRC-001"]


def test_a_failure_unfolds_and_its_words_are_no_markup(
    browser: Browser, run_file: Path
) -> None:
    with opened(browser, run_file) as page:
        entry = page.locator("#WIRE-FRAME-002")
        expect(entry.locator("pre")).to_be_hidden()
        entry.locator("summary").click()
        expect(entry.locator("pre")).to_have_text(TEXT)
        expect(entry.locator("a")).to_have_attribute("href", "captures/test_it.pcapng")
        assert page.title() == "embedded: as 4.6.0: 2 of 4 clauses"


def test_a_link_to_a_clause_or_a_filter_is_followed(
    browser: Browser, run_file: Path
) -> None:
    with opened(browser, run_file) as page:
        page.goto(f"{run_file.resolve().as_uri()}#WIRE-FRAME-008")
        expect(page.locator("#WIRE-FRAME-008 pre")).to_be_visible()
        page.goto(f"{run_file.resolve().as_uri()}#outcome=pass&area=WIRE")
        expect(page.locator("output")).to_have_text("1 of 6 clauses")


def test_a_keyboard_is_enough(browser: Browser, run_file: Path) -> None:
    with opened(browser, run_file) as page:
        page.keyboard.press("/")
        page.keyboard.type("low 24")
        assert shown(page) == ["WIRE-FRAME-002"]
        for _ in range(3):  # past the two buttons, to the clause
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#WIRE-FRAME-002 pre")).to_be_visible()
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) != "none"


def test_all_unfold_and_fold(browser: Browser, run_file: Path) -> None:
    with opened(browser, run_file) as page:
        page.click("[name=unfold]")
        assert page.locator("details.clause[open]").count() == len(OUTCOMES)
        expect(page.locator("[name=unfold]")).to_have_text("fold all")
        page.click("[name=unfold]")
        expect(page.locator("details.clause[open]")).to_have_count(0)


def test_a_phone_scrolls_down_only(browser: Browser, any_file: Path) -> None:
    with opened(browser, any_file, width=PHONE) as page:
        page.evaluate(
            "document.querySelectorAll('details').forEach((d) => d.open = true)"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
        page.evaluate("scrollTo(99, 0)")
        assert page.evaluate("scrollX") == 0


def test_the_page_is_dark_for_who_wants_it_so(browser: Browser, any_file: Path) -> None:
    for dark in (False, True):
        with opened(browser, any_file, dark=dark) as page:
            ground, letters = map(brightness, colours(page))
            assert (ground < letters) is dark
            assert abs(ground - letters) > 400


def test_the_matrix_shows_what_the_last_run_changed(
    browser: Browser, matrix_file: Path
) -> None:
    with opened(browser, matrix_file) as page:
        trend = page.locator("section.trend")
        expect(trend).to_contain_text("no longer met: WIRE-FRAME-002")
        assert trend.locator("rect").count() == 2
        page.check("[name=differs]")
        rows = page.locator("#clauses tbody tr:visible")
        assert rows.count() == 2
        expect(rows.first).to_contain_text("✓ ✗ fail")


def test_a_cell_leads_to_its_clause_in_the_run(
    browser: Browser, matrix_file: Path
) -> None:
    with opened(browser, matrix_file) as page:
        row = page.locator("#WIRE-FRAME-002")
        row.locator("summary").click()
        expect(row.locator("pre")).to_have_text(TEXT)
        row.locator("a", has_text="in its run").click()
        assert page.url.endswith("/a%20b/report.html#WIRE-FRAME-002")
        expect(page.locator("#WIRE-FRAME-002 pre")).to_be_visible()
        page.go_back()
        page.locator("#clauses thead a", has_text="jvm:5.3.3").click()
        assert page.url.endswith("/d/report.html")
        assert page.title() == "jvm:5.3.3 as 4.6.0: 6 of 6 clauses"


def test_a_count_of_the_matrix_filters_by_target_too(
    browser: Browser, matrix_file: Path
) -> None:
    rows = "#clauses tbody tr:visible > th"
    with opened(browser, matrix_file) as page:
        page.click("button[aria-label='embedded:: 1 known']")
        expect(page.locator("output")).to_have_text("1 of 6 clauses")
        assert page.locator(rows).all_text_contents() == ["WIRE-FRAME-008"]
        assert page.locator("td.known:visible").count() == 1
        page.locator("td.known:visible summary").click()
        expect(page.locator("td.known:visible p")).to_have_text("it is so")
        page.select_option("[name=target]", label="jvm:4.6.0")
        expect(page.locator("output")).to_have_text("0 of 6 clauses")
        expect(page).to_have_url(re.compile(r"#.*\btarget=1\b"))
        address = page.url
        page.click("button[type=reset]")
        expect(page.locator("output")).to_have_text("6 clauses")
        page.goto(address)
        expect(page.locator("output")).to_have_text("0 of 6 clauses")


def test_a_keyboard_is_enough_for_the_matrix(
    browser: Browser, matrix_file: Path
) -> None:
    with opened(browser, matrix_file) as page:
        page.keyboard.press("/")
        page.keyboard.type("low 24")
        expect(page.locator("output")).to_have_text("1 of 6 clauses")
        focused = "document.activeElement.textContent.trim()"
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        for _ in range(12):
            page.keyboard.press("Tab")
            assert page.evaluate(outline) != "none"
            if page.evaluate(focused) == "✗ fail":
                break
        page.keyboard.press("Enter")
        expect(page.locator("#WIRE-FRAME-002 pre")).to_be_visible()


def test_on_a_phone_each_outcome_says_whose_it_is(
    browser: Browser, matrix_file: Path
) -> None:
    shown_text = "(one) => getComputedStyle(one, '::before').content"
    with opened(browser, matrix_file, width=PHONE) as page:
        cells = page.locator("#WIRE-FRAME-001 td[data-target]").all()
        named = [cell.evaluate(shown_text) for cell in cells]
        assert [name.strip('" ') for name in named] == [*COLUMNS]
        expect(page.locator("#clauses thead")).to_be_hidden()
