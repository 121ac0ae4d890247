"""The page on performance shows the kept reports, and lists the missing ones."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.measurements.everything import TITLES as TITLES_OF_ALL
from bench.measurements.growth import LETTERS, _send, marks_up_to
from bench.report.chart import picture
from bench.report.page import keep, kept, page
from bench.report.result import (
    Goal,
    Machine,
    Report,
    decode_report,
    encode_report,
    goal_result,
    limit,
    row,
)
from spec.wire.remoting.command import decode_command

TURNS = {
    "reference": [{"per_s": 300.0, "p99_ms": 2.0}, {"per_s": 200.0, "p99_ms": 4.0}],
    "apache": [{"per_s": 150.0, "p99_ms": 1.0}, {"per_s": 100.0, "p99_ms": 8.0}],
}
REPORT = Report(
    bench="send",
    machine=Machine(rocketmq="4.6.0", processors=2, python="3.11.7", load=0.5),
    rounds=2,
    rows=[row("sync <x16>", TURNS, unit="messages/s", of="per_s")],
    goals=[
        goal_result("sync x16", TURNS, Goal(figure="per_s", at_least=1.5)),
        goal_result("told", TURNS, Goal(figure="p99_ms", at_least=None)),
        limit("start", 0.7, at_most=0.5, unit="s"),
    ],
)
TEXT = """\
{
 "schema": 1,
 "bench": "send",
 "machine": {
  "processors": 2,
  "load": 0.5,
  "python": "3.11.7",
  "rocketmq": "4.6.0"
 },
 "rounds": 2,
 "rows": [
  {
   "id": "sync <x16>",
   "unit": "messages/s",
   "of": "per_s",
   "reference": {
    "per_s": 250.0,
    "p99_ms": 3.0,
    "rounds": [
     300.0,
     200.0
    ]
   },
   "apache": {
    "per_s": 125.0,
    "p99_ms": 4.5,
    "rounds": [
     150.0,
     100.0
    ]
   }
  }
 ],
 "goals": [
  {
   "way": "sync x16",
   "other": "apache",
   "ratio": 2.0,
   "spread": [
    2.0,
    2.0
   ],
   "at_least": 1.5,
   "met": true
  },
  {
   "way": "told",
   "other": "apache",
   "ratio": 1.25,
   "spread": [
    0.5,
    2.0
   ],
   "at_least": null,
   "met": null
  },
  {
   "way": "start",
   "value": 0.7,
   "at_most": 0.5,
   "unit": "s",
   "met": false
  }
 ]
}"""
PERFORMANCE = Path(__file__).parents[2] / "docs" / "performance"
TITLES = {"send": "Sending, one by one", "pull": "Consuming"}


def test_a_report_is_encoded_and_decoded() -> None:
    assert encode_report(REPORT) == TEXT
    assert decode_report(TEXT) == REPORT


@pytest.mark.parametrize("name", TITLES_OF_ALL)
def test_the_kept_reports_are_decoded(name: str) -> None:
    report = kept(PERFORMANCE, {name: "title"})[name]
    assert report.goals
    assert report.machine.rocketmq == "4.6.0"


def test_what_is_kept_is_shown_with_goals_figures_and_picture(tmp_path: Path) -> None:
    keep("send", REPORT, tmp_path)
    text = page(kept(tmp_path, TITLES), TITLES)
    link = "[Sending, one by one](#sending-one-by-one)"
    assert f"| {link}: sync x16 | 2 x (2 to 2) | 1.5 x apache | met |" in text
    assert f"| {link}: start | 0.7 s | at most 0.5 s | **missed** |" in text
    assert "| sync <x16> | reference | 250 messages/s | 3 |" in text
    assert text.endswith("Not measured yet: Consuming.\n")
    assert (tmp_path / "send.svg").exists()


def test_a_picture_is_svg_with_a_bar_for_each_server() -> None:
    root = ElementTree.fromstring(picture(REPORT))  # noqa: S314 - our own text
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:3] == ["reference", "apache", "sync <x16>"]
    assert texts[3:] == ["250 messages/s", "125 messages/s"]


def test_marks_grow_to_the_last() -> None:
    assert marks_up_to(100_000, first=10_000, factor=10) == (10_000, 100_000)
    assert marks_up_to(10_000, first=1, factor=100) == (1, 100, 10_000)


def test_a_frame_of_the_growth_is_a_send_as_java_has_it() -> None:
    command = decode_command(_send(7, "BenchGrowth_00007"))
    assert command.code == 310
    assert command.opaque == 7
    assert set(command.fields) == set(LETTERS)
    assert command.fields["b"] == "BenchGrowth_00007"
    assert len(command.body) == 1024
