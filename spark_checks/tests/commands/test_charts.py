"""
Charts have their parts at the right places, and names in them are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from cli.pages.audit import report
from cli.pages.audit.audited_store import AuditedStore
from cli.pages.audit.charts import WIDTH, Rect, log_map
from spark_checks.config_files import ConfigFile, offsets_in
from spark_checks.findings import INVARIANTS, Finding, Severity
from spark_checks.store_files import Store, StoreFile, list_store
from spark_checks.store_summary import groups_of, store_summary
from spark_checks.survey.summary import QueueSummary, SurveySummary
from spark_checks.tests.commands.page import sample_audit
from spec.store.index_file import ITEM_SIZE, SLOT_SIZE, IndexHeader, encode_header

FILES = tuple(
    StoreFile(path=f"commitlog/{base:020}", size=100) for base in (100, 200, 300)
)
STORE = Store(url="/store", files=FILES, directories=frozenset())


def violation(
    offset: int,
    *,
    length: int = 1,
    severity: Severity = Severity.ERROR,
    file: str = FILES[1].path,
) -> Finding:
    """Return a finding in the second file."""
    return Finding(
        invariant=INVARIANTS["INV-LOG-001"],
        severity=severity,
        file=file,
        offset=offset,
        length=length,
        expected="",
        found="",
        message="",
    )


def map_of(log_end: int, findings: Iterable[Finding]) -> list[Rect]:
    """Return the map of three files."""
    return log_map(STORE, log_end, findings)


def rects(chart: list[Rect], kind: str) -> list[Rect]:
    """Return the drawn rectangles of this class."""
    return [one for one in chart if one.kind == kind and one.width > 0]


def test_the_map_shows_written_parts_and_findings_at_their_places() -> None:
    chart = map_of(350, [violation(50, length=50)])
    written = sum(one.width for one in rects(chart, "written"))
    assert written == pytest.approx(WIDTH * 250 / 300)
    unwritten = sum(one.width for one in rects(chart, "unwritten"))
    assert unwritten == pytest.approx(WIDTH * 50 / 300)
    (mark,) = rects(chart, "error")
    assert mark.left == pytest.approx(500)
    assert mark.width == pytest.approx(WIDTH / 6)


def test_findings_at_one_place_are_one_mark_and_the_error_wins() -> None:
    warning = violation(1, severity=Severity.WARNING)
    chart = map_of(400, [warning, violation(1), violation(1), warning])
    assert len(rects(chart, "error")) == 1
    assert rects(chart, "warning") == []


def test_a_finding_elsewhere_or_at_the_very_end_breaks_no_picture() -> None:
    elsewhere = violation(1, file="config/topics.json")
    chart = map_of(400, [elsewhere, violation(100, file=FILES[2].path)])
    (mark,) = rects(chart, "error")
    assert mark.left + mark.width <= WIDTH


def test_the_highest_bar_fills_the_picture() -> None:
    page = report.as_html([AuditedStore(audit=sample_audit())])
    svg = page.split('aria-label="messages by size">')[1].split("</svg>")[0]
    heights = re.findall(r' height="([0-9.]+)%"', svg)
    assert heights == ["2.0", "45.0", "100.0", "0.0", "0.8"]


def test_names_are_no_markup() -> None:
    page = report.as_html([AuditedStore(audit=sample_audit())])
    assert "<i>" not in page
    for begin in range(page.count("<svg")):
        svg = page.split("<svg")[begin + 1].split("</svg>")[0]
        ElementTree.fromstring(f"<svg{svg}</svg>")  # noqa: S314 # we have made it


QUEUE = QueueSummary(count=10, matched_count=10, first=10, last=19, hash=0)
SUMMARY = SurveySummary(units={("T", 0): QUEUE, ("T", 1): QUEUE})


def test_the_lag_of_a_group_counts_what_it_has_not_consumed() -> None:
    table = {
        "T@g": {0: 15, 1: 3, 7: 1},  # 3 is of messages that are deleted by now
        "T@ahead": {0: 99},
        "Gone@g": {0: 1},
        "other": {0: 1},
    }
    file = ConfigFile(path="", value={"offsetTable": table})
    assert groups_of(offsets_in(file), SUMMARY) == {
        "ahead": {"lag": 0, "topics": {"T": 0}},
        "g": {"lag": 15, "topics": {"T": 15}},
    }


def test_an_impossible_count_of_an_index_header_is_not_in_the_summary(
    tmp_path: Path,
) -> None:
    index = tmp_path / "index"
    for directory in (index, tmp_path / "commitlog"):
        directory.mkdir()
    size = 10 * SLOT_SIZE + 40 * ITEM_SIZE
    for number, count in enumerate((31, 0x41424344, 0)):
        header = encode_header(IndexHeader(index_count=count))
        (index / f"2023111422132000{number}").write_bytes(header + bytes(size))
    found = store_summary(list_store(str(tmp_path)), SUMMARY)
    assert found["index"] == {"files": 3, "entries": 30}


def test_offsets_are_those_of_the_file_that_a_broker_with_lmqs_writes(
    tmp_path: Path,
) -> None:
    config = tmp_path / "config"
    for directory in (config, tmp_path / "commitlog"):
        directory.mkdir()
    (config / "consumerOffset.json").write_text('{"offsetTable":{"T@old":{0:10}}}')
    light = '{"offsetTable":{"T@g":{0:15},"T@h":{1:19}},"lmqOffsetTable":{}}'
    (config / "lmqConsumerOffset.json").write_text(light)
    found = cast(dict[str, Any], store_summary(list_store(str(tmp_path)), SUMMARY))
    assert found["config"] == {"consumed_offsets": 2}
    lags = {group: one["lag"] for group, one in found["groups"].items()}
    assert lags == {"g": 5, "h": 1}
