"""The text of report.json is a contract: its members, their order and their form."""

from __future__ import annotations

import json

import pytest

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report_json import (
    ClauseEntry,
    FailureEntry,
    Report,
    ReportError,
    TargetEntry,
    decode_report,
    encode_report,
)
from spec.clause import Level

REPORT = Report(
    target=TargetEntry(text="embedded:", release="4.6.0", capabilities=["wire"]),
    suite_version="0.1.0",
    at="2026-11-29T05:00:00+00:00",
    command="rmqc test",
    results=[
        ClauseEntry(
            id="WIRE-FRAME-001",
            level=Level.MUST,
            outcome=Outcome.FAIL,
            tests=["conformance/wire/test_frame.py::test_it"],
            duration_s=0.25,
            failure=FailureEntry(
                test="test_it", expected="2", found="1", text="Füße are not met."
            ),
        ),
    ],
    totals={"fail": 1},
)
TEXT = """\
{
 "schema": 1,
 "target": {
  "text": "embedded:",
  "release": "4.6.0",
  "capabilities": [
   "wire"
  ],
  "refuses": [],
  "complaints": [],
  "broker": "",
  "cluster": "",
  "error": null
 },
 "suite_version": "0.1.0",
 "at": "2026-11-29T05:00:00+00:00",
 "command": "rmqc test",
 "interrupted": null,
 "results": [
  {
   "id": "WIRE-FRAME-001",
   "level": "MUST",
   "outcome": "fail",
   "tests": [
    "conformance/wire/test_frame.py::test_it"
   ],
   "duration_s": 0.25,
   "reason": null,
   "failure": {
    "test": "test_it",
    "expected": "2",
    "found": "1",
    "text": "F\\u00fc\\u00dfe are not met.",
    "again": null,
    "capture": null,
    "vector": null
   }
  }
 ],
 "totals": {
  "fail": 1
 }
}
"""


def test_a_report_is_encoded_and_decoded() -> None:
    assert encode_report(REPORT) == TEXT
    assert encode_report(decode_report(TEXT)) == TEXT


def test_a_report_of_an_earlier_version_has_fewer_members() -> None:
    values = json.loads(TEXT)
    for name in ("at", "interrupted"):
        del values[name]
    for name in ("refuses", "complaints", "broker", "cluster", "error"):
        del values["target"][name]
    for name in ("level", "reason"):
        del values["results"][0][name]
    read = decode_report(json.dumps(values))
    assert (read.at, read.target.error, read.results[0].level) == ("", None, None)
    assert read.results[0].failure == REPORT.results[0].failure


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("schema", 2, "not a report: schema: "),
        ("totals", {"maybe": 1}, "not a report: totals: "),
        ("results", [{}], r"not a report: results\[0\]: "),
    ],
)
def test_a_text_that_does_not_fit_the_schema_is_no_report(
    name: str, value: object, error: str
) -> None:
    with pytest.raises(ReportError, match=error):
        decode_report(json.dumps({**json.loads(TEXT), name: value}))
