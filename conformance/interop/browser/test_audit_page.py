"""
The page of an audit in a real browser: pictures, phones, the dark, names as text.

The page is the sample among the documents, which the audits' own tests keep up to date.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from conformance.interop.tools.chromium import chromium, opened

PAGE = Path(__file__).resolve().parents[3] / "docs" / "samples" / "audit.html"
PHONE = 375


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Yield one browser for all tests."""
    with chromium() as made:
        yield made


def test_findings_come_with_what_to_do_and_names_are_no_markup(
    browser: Browser,
) -> None:
    with opened(browser, PAGE) as page:
        assert page.title() == "Store audit: fail"
        assert page.locator("dl.next dt").count() == 3
        expect(page.locator("dl.next dd").first).to_contain_text("Next:")
        printed = page.locator("table.findings tbody tr").first
        expect(printed).to_contain_text("<script>document.title = 'x'</script>")


def test_the_map_marks_damage_where_it_is(browser: Browser) -> None:
    with opened(browser, PAGE) as page:
        strip = page.locator("figure.map svg").bounding_box()
        marks = [one.bounding_box() for one in page.locator(".map rect.error").all()]
        assert strip is not None
        assert len(marks) == 2
        left = [(box["x"] - strip["x"]) / strip["width"] for box in marks if box]
        assert left[0] == pytest.approx((1 + 0.28) / 4, abs=0.01)
        assert all(box["width"] >= 2 for box in marks if box)


@pytest.mark.parametrize("width", [PHONE, 1200])
def test_every_picture_is_seen(browser: Browser, width: int) -> None:
    with opened(browser, PAGE, width=width) as page:
        pictures = page.locator("svg").all()
        assert len(pictures) >= 6
        for picture in pictures:
            box = picture.bounding_box()
            assert box is not None
            assert box["width"] > 100
            assert box["height"] >= 10
            assert picture.get_attribute("aria-label")


def test_a_phone_scrolls_down_only(browser: Browser) -> None:
    with opened(browser, PAGE, width=PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
        named = "(one) => getComputedStyle(one, '::before').content"
        cell = page.locator("table.findings tbody td").first
        assert "Invariant" in cell.evaluate(named)


def test_the_page_is_dark_for_who_wants_it_so(browser: Browser) -> None:
    found = []
    for dark in (False, True):
        with opened(browser, PAGE, dark=dark) as page:
            style = "getComputedStyle(document.body)"
            colours = [
                str(page.evaluate(f"{style}.{name}"))
                for name in ("backgroundColor", "color")
            ]
            ground, letters = (
                sum(map(int, colour.strip("rgba()").split(",")[:3]))
                for colour in colours
            )
            assert (ground < letters) is dark
            assert abs(ground - letters) > 400
            found.append(colours)
    assert found[0] != found[1]
