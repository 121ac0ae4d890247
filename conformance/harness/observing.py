"""
Making evidence of a run: its report, without what is only of interest to its day.

A report becomes evidence only if it is about Apache RocketMQ with no settings of its
own, and about all clauses that the suites can ask for.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Collection, Mapping
from typing import Any

from conformance.harness.differences import is_release
from conformance.harness.java import find_java
from conformance.harness.outcome import Outcome
from spec.observed import EvidenceError, Observed
from spec.registry import all_clauses

REASON_LIMIT = 300
NEED_NO_REASON = (Outcome.PASS, Outcome.NOT_APPLICABLE)
"""Outcomes that need no reason."""


def observed_in(
    report: Mapping[str, Any], *, tested: Collection[str], recorded: str, java: str
) -> Observed:
    """Return what *report* says as evidence; *tested* are all clauses with a test.

    One that is not the report of a whole run on a release is an EvidenceError.
    """
    text, release = report["target"]["text"], report["target"]["release"]
    if report["target"].get("error"):
        raise EvidenceError(f"{text} did not run: {report['target']['error']}")
    if not is_release(text, release):
        raise EvidenceError(f"{text!r} is no release of Apache RocketMQ as it comes")
    asked = {name for name in tested if all_clauses()[name].applies_to(release)}
    outcomes = dict.fromkeys(set(tested) - asked, Outcome.NOT_APPLICABLE.value)
    outcomes |= {entry["id"]: entry["outcome"] for entry in report["results"]}
    silent = (None, Outcome.NOT_APPLICABLE)
    missing = sorted(name for name in asked if outcomes.get(name) in silent)
    if missing:
        raise EvidenceError(
            f"the report on {text} says nothing of {len(missing)} clauses,"
            f" {missing[0]} for one: it is not of a whole run"
        )
    reasons = {entry["id"]: _reason(entry) for entry in report["results"]}
    return Observed(
        release=release,
        target=text,
        recorded=recorded,
        java=java,
        suite_version=report["suite_version"],
        outcomes=outcomes,
        reasons={name: reason for name, reason in reasons.items() if reason},
    )


@functools.cache
def java_in_use() -> str:
    """Return the version of the Java that runs the releases, such as 21.0.8."""
    run = subprocess.run(
        [str(find_java()), "-version"], capture_output=True, text=True, timeout=60
    )
    match = re.search(r'version "([^"]+)"', run.stderr)
    return match.group(1) if match else "unknown"


def _reason(entry: Mapping[str, Any]) -> str:
    if entry["outcome"] in NEED_NO_REASON:
        return ""
    failure = entry.get("failure")
    found = f"found {failure['found']}" if failure and failure["found"] else ""
    return str(entry.get("reason") or found or "no reason was given")[:REASON_LIMIT]
