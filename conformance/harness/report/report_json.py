"""
The content of report.json as structures, and the one place that encodes them.

`report.schema.json` fixes the form. The reports of earlier versions lack some members,
which have a default here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from msgspec import Struct, convert, field, to_builtins

from conformance.harness.report.outcome import Outcome
from spec.clause import Level

SCHEMA = 1
_SCHEMA_FILE = Path(__file__).with_name("report.schema.json")


class ReportError(ValueError):
    """A file is not the report of a run."""


class TargetEntry(Struct, frozen=True, kw_only=True):
    """The target of a run."""

    text: str = ""
    release: str = ""
    capabilities: Sequence[str] = ()
    refuses: Sequence[str] = ()
    """Names of the requests that it does not support, of those that were sent."""
    violations: Sequence[str] = field(default=(), name="complaints")
    """Reasons why it is not honest: its refusals do not count."""
    broker: str = ""
    cluster: str = ""
    error: str | None = None
    """Why it did not run."""


class FailureEntry(Struct, frozen=True, kw_only=True):
    """The failure of one clause."""

    test: str
    expected: str
    found: str
    text: str
    """The failure as it was printed."""
    again: str | None = None
    """The command that runs the test again."""
    capture: str | None = None
    vector: str | None = None
    """Files of its connections and of its smallest example, relative to the report."""


class ClauseEntry(Struct, frozen=True, kw_only=True):
    """The result of one clause."""

    id: str
    level: Level | None = None
    outcome: Outcome
    tests: Sequence[str]
    duration_s: float
    reason: str | None = None
    failure: FailureEntry | None = None


class Report(Struct, frozen=True, kw_only=True):
    """One run on one target."""

    schema: int = SCHEMA
    target: TargetEntry
    suite_version: str
    at: str = ""
    """End of the run, ISO 8601 in UTC."""
    command: str
    interrupted: str | None = None
    """Progress of a run that was interrupted."""
    results: Sequence[ClauseEntry]
    totals: Mapping[str, int]
    """Number of clauses by outcome."""


def encode_report(report: Report) -> str:
    """Return *report* as the text of report.json."""
    return json.dumps(to_builtins(report), indent=1) + "\n"


def decode_report(text: str) -> Report:
    """Return the report in the text of a report.json.

    Raises ReportError if it does not fit the schema.
    """
    try:
        values = json.loads(text)
        jsonschema.validate(values, _schema())
    except ValueError as error:
        raise ReportError(f"not a report: {error}") from None
    except jsonschema.ValidationError as error:
        where = error.json_path.removeprefix("$.")
        raise ReportError(f"not a report: {where}: {error.message}") from None
    return convert(values, Report)


def schema_text() -> str:
    """Return the JSON schema that every report fits."""
    return _SCHEMA_FILE.read_text(encoding="utf-8")


@cache
def _schema() -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads(schema_text())
    return schema
