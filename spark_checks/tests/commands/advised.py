"""Findings, forecasts and stores that tests of the advice share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cli.pages.audit.advice import Advice
from cli.pages.audit.audited_store import AuditedStore
from cli.pages.audit.start_forecast import StartForecast
from spark_checks.audit import Audit
from spark_checks.findings import INVARIANTS, Finding, Severity, in_order
from spark_checks.store_files import Store, StoreFile
from spark_checks.survey.summary import SurveySummary


def finding(
    name: str, severity: Severity = Severity.ERROR, file: str = "f", offset: int = 0
) -> Finding:
    """Return a finding of the invariant *name*."""
    return Finding(
        invariant=INVARIANTS[name],
        severity=severity,
        file=file,
        offset=offset,
        length=1,
        expected="x",
        found="y",
        message="It is so.",
    )


LOG = f"commitlog/{0:020}"
DAMAGED = finding("INV-LOG-001", file=LOG)
UNIT = finding("INV-CQ-001", file=f"consumequeue/T/0/{0:020}")
ITEM = finding("INV-INDEX-007", file="index/20261123000000000")
HARMLESS = StartForecast(release="4.6.0")
LOSSES = StartForecast(release="4.6.0", lost=(("T", 3000), ("U", 1)), rebuilt=HARMLESS)
REBUILT = replace(HARMLESS, rebuilt=HARMLESS)
SHORT_LOG = replace(LOSSES, lacks_files=True)
HIDDEN = replace(HARMLESS, invisible=2500, rebuilt=HARMLESS)


def advice(
    *findings: Finding, forecast: StartForecast | None = None, **more: Any
) -> Advice:
    """Return the advice for a store with *findings*, and *more* of its audit."""
    found = tuple(in_order(findings))
    more.setdefault("listing", listing("consumequeue"))
    audit = Audit(
        store="/a b",
        summary={},
        survey_summary=SurveySummary(),
        findings=found,
        **more,
    )
    return Advice(store=AuditedStore(audit=audit, forecast=forecast))


def listing(*directories: str, files: tuple[str, ...] = ()) -> Store:
    """Return a store with these directories and files."""
    found = tuple(StoreFile(path=path, size=16) for path in files)
    return Store(url="/a b", files=found, directories=frozenset(directories))
