"""
Evidence: the outcomes of the clauses on real releases, clause by clause.

A run of the suites on Apache RocketMQ has an outcome for each clause. The outcomes are
kept in ``spec/evidence``, one file a release, as the source of a clause's status and to
detect later changes. This module is the form of those files. They are not the report
of a run: they have no durations and no texts of failures.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from spec.clause import release_key

SCHEMA = 1
OUTCOMES = ("pass", "fail", "error", "known", "unsupported", "not-applicable")
"""Outcomes of a clause on a target; only `pass` is green."""

SETTLED = ("pass", "fail", "known")
"""The outcomes that are statements about the release."""


class EvidenceError(ValueError):
    """A file of evidence is not what such a file has to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Observed outcomes of one release, and the run that observed them."""

    release: str
    target: str
    """Target of the run, as ``rmqc test --target`` names it."""
    recorded: str
    """The day of the run, as 2026-11-21."""
    java: str
    """The runtime that the release ran on."""
    suite_version: str
    outcomes: Mapping[str, str]
    """Outcome by clause id."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why, by clause id, where the outcome is neither a pass nor another release's."""

    def settles(self, clause_id: str) -> bool:
        """Return whether the release was seen to meet the clause, or not to."""
        return self.outcomes.get(clause_id) in SETTLED

    @property
    def totals(self) -> dict[str, int]:
        """Number of clauses by outcome, those with none included."""
        counted = Counter(self.outcomes.values())
        return {outcome: counted[outcome] for outcome in OUTCOMES}


def encode_observed(observed: Observed) -> str:
    """Return the text of the file of *observed*; equal values give equal text."""
    values = {
        "schema": SCHEMA,
        "release": observed.release,
        "target": observed.target,
        "recorded": observed.recorded,
        "java": observed.java,
        "suite_version": observed.suite_version,
        "totals": observed.totals,
        "outcomes": dict(sorted(observed.outcomes.items())),
        "reasons": dict(sorted(observed.reasons.items())),
    }
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def decode_observed(text: str) -> Observed:
    """Return the content of a file of *text*; EvidenceError if malformed."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise EvidenceError(f"evidence is not JSON: {error}") from None
    if not isinstance(values, dict) or values.get("schema") != SCHEMA:
        raise EvidenceError(f"evidence is an object of schema {SCHEMA}")
    outcomes, reasons = _texts(values, "outcomes"), _texts(values, "reasons")
    unknown = sorted(set(outcomes.values()) - set(OUTCOMES))
    if unknown:
        raise EvidenceError(f"evidence: {unknown[0]!r} is not an outcome")
    observed = Observed(
        release=_text(values, "release"),
        target=_text(values, "target"),
        recorded=_text(values, "recorded"),
        java=_text(values, "java"),
        suite_version=_text(values, "suite_version"),
        outcomes=outcomes,
        reasons=reasons,
    )
    if values.get("totals") != observed.totals:
        raise EvidenceError("evidence: its totals are not those of its outcomes")
    return observed


@cache
def all_evidence() -> Mapping[str, Observed]:
    """Return the observations by release, the oldest first."""
    folder = resources.files("spec").joinpath("evidence")
    found = [
        decode_observed(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".json")
    ]
    found.sort(key=lambda observed: release_key(observed.release))
    return MappingProxyType({observed.release: observed for observed in found})


def evidence_of(clause_id: str) -> dict[str, str]:
    """Return the observed outcome of a clause, by release."""
    return {
        release: observed.outcomes[clause_id]
        for release, observed in all_evidence().items()
        if clause_id in observed.outcomes
    }


def evidence_line(clause_id: str) -> str:
    """Return the releases that were seen to meet a clause, and any that were not."""
    seen = evidence_of(clause_id).items()
    return ", ".join(
        release if outcome == "pass" else f"{release} {outcome}"
        for release, outcome in seen
        if outcome != "not-applicable"
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str) or not value:
        raise EvidenceError(f"evidence: {name} is a text")
    return value


def _texts(values: Mapping[str, Any], name: str) -> Mapping[str, str]:
    value = values.get(name)
    if not isinstance(value, dict) or not all(
        isinstance(text, str) for text in value.values()
    ):
        raise EvidenceError(f"evidence: {name} is an object of texts")
    return value
