"""
Charts are well-formed SVG, and names in them are escaped.
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from spark_checks.report.charts_svg import WIDTH, Bar, histogram, log_map, share
from spark_checks.store_summary import groups_of
from spark_checks.survey.summary import QueueSummary, SurveySummary

FILES = [(f"commitlog/{base:020}", base, 100) for base in (100, 200, 300)]


def violation(
    offset: int, *, length: int = 1, severity: str = "error"
) -> dict[str, object]:
    """Return a finding in the second file."""
    return {
        "invariant": "INV-LOG-001",
        "severity": severity,
        "file": FILES[1][0],
        "offset": str(offset),
        "length": length,
    }


def rects(svg: str, kind: str) -> list[dict[str, str]]:
    """Return the attributes of the rectangles of this class."""
    found = ElementTree.fromstring(svg).iter("rect")  # noqa: S314 # we have made it
    return [one.attrib for one in found if one.attrib.get("class") == kind]


def test_the_map_shows_written_parts_and_findings_at_their_places() -> None:
    svg = log_map(FILES, 350, [violation(50, length=50)])
    written = [float(one["width"]) for one in rects(svg, "written")]
    assert sum(written) == pytest.approx(WIDTH * 250 / 300, abs=0.1)
    assert sum(float(one["width"]) for one in rects(svg, "unwritten")) == pytest.approx(
        WIDTH * 50 / 300, abs=0.1
    )
    (mark,) = rects(svg, "error")
    assert float(mark["x"]) == pytest.approx(500, abs=0.1)
    assert float(mark["width"]) == pytest.approx(WIDTH / 6, abs=0.1)


def test_findings_at_one_place_are_one_mark_and_the_error_wins() -> None:
    found = [violation(1, severity="warning"), violation(1), violation(1)]
    found.append(violation(1, severity="warning"))
    svg = log_map(FILES, 400, found)
    assert len(rects(svg, "error")) == 1
    assert rects(svg, "warning") == []


def test_a_finding_elsewhere_or_at_the_very_end_breaks_no_picture() -> None:
    elsewhere = {**violation(1), "file": "config/topics.json"}
    svg = log_map(FILES, 400, [elsewhere, {**violation(100), "file": FILES[2][0]}])
    (mark,) = rects(svg, "error")
    assert float(mark["x"]) + float(mark["width"]) <= WIDTH
    assert log_map([], 0, []) == ""


def test_the_highest_bar_fills_the_picture_and_names_are_no_markup() -> None:
    svg = histogram([Bar(label="<b>", count=4), Bar(label="c", count=1)], 'a "b"')
    heights = [float(one["height"]) for one in rects(svg, "bar")]
    assert heights[0] == 4 * heights[1]
    assert "<b>" not in svg
    assert histogram([], "nothing") == ""
    assert rects(share(0, 0), "bar") == []


def test_the_lag_of_a_group_counts_what_it_has_not_consumed() -> None:
    digest = QueueSummary(
        count=10, matched_count=10, first=10, last=19, hash=0, bytes=0
    )
    summary = SurveySummary(
        records={},
        units={("T", 0): digest, ("T", 1): digest},
        regions=0,
        bad_checksums=0,
        bad_places=0,
        damaged=0,
        log_end=0,
        last_stored_at_ms=None,
        last_file_base=0,
        first_tail_base=None,
    )
    table = {
        "T@g": {0: 15, 1: 3, 7: 1},  # 3 is of messages that are deleted by now
        "T@ahead": {0: 99},
        "Gone@g": {0: 1},
        "other": {0: 1},
    }
    assert groups_of(table, summary) == {
        "ahead": {"lag": 0, "topics": {"T": 0}},
        "g": {"lag": 15, "topics": {"T": 15}},
    }
