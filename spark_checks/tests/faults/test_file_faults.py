"""
Faults of whole files, pages and settings are found in stores of real brokers.

Here the survey runs without Spark: files and settings have their finding, and the other
faults are detected. The environment ``audit-fields`` compares the rows as well.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest

from spark_checks.audit import file_findings
from spark_checks.broker_conf import BrokerConf
from spark_checks.findings import INVARIANTS, Finding
from spark_checks.invariants.index.index_items import key_ranges
from spark_checks.situation import situation_of
from spark_checks.store_files import Store, list_store
from spark_checks.survey.summary import SurveySummary
from spark_checks.survey.survey import Survey, parts_of, survey_of
from spark_checks.tests.fields.all_file_faults import FILE_FAULTS
from spark_checks.tests.fields.file_fault import FileFault, Place
from spark_checks.tests.recorded_stores import ROLLED

LEVELS_MS = {1: 1000, 2: 2000, 3: 3650 * 86_400_000}
"""Delays of the recorded brokers."""


def surveyed(store: Store, conf: BrokerConf) -> tuple[SurveySummary, bool]:
    """Return the summary of *store*, and whether rows must be compared."""
    situation = replace(situation_of(store, conf), key_ranges=key_ranges(store))
    parts = parts_of(store, 2)
    found = reduce(Survey.plus, (survey_of(store.url, one, situation) for one in parts))
    summary = found.summary
    is_suspect = bool(
        summary.suspects(situation)
        or summary.log_is_suspect
        or summary.damaged_items > 0
        or summary.unlike_sections
    )
    return summary, is_suspect


def audit_of_files(root: Path) -> tuple[list[Finding], bool]:
    """Return the findings in files, and whether rows must be compared."""
    conf = BrokerConf(delays=LEVELS_MS)
    store = list_store(str(root))
    summary, is_suspect = surveyed(store, conf)
    found = file_findings(store, conf, summary)
    return [one.settled(is_open=store.was_left_open) for one in found], is_suspect


def matches(found: Finding, fault: FileFault, place: Place) -> bool:
    """Return whether *found* reports *fault* at *place*, with its severity."""
    return (
        found.invariant.id in fault.findings
        and str(found.severity) == fault.severity
        and place.file in ("", found.file)
        and place.offset in (None, found.offset)
    )


@pytest.mark.parametrize("store", ROLLED, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("fault", FILE_FAULTS, ids=lambda fault: fault.kind)
def test_a_fault_is_found_as_the_table_has_it(
    fault: FileFault, store: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(store, tmp_path / "store")
    place = fault.plant(root)
    findings, is_suspect = audit_of_files(root)
    if not fault.findings:
        assert (findings, is_suspect) == ([], False)
    elif fault.needs_rows:
        assert is_suspect
    else:
        assert any(matches(one, fault, place) for one in findings), findings


@pytest.mark.parametrize("store", ROLLED, ids=lambda path: path.parent.name)
def test_a_store_without_a_fault_has_no_finding(store: Path) -> None:
    assert audit_of_files(store) == ([], False)


def test_every_undetected_fault_has_a_reason() -> None:
    known = set(INVARIANTS)
    assert len({one.kind for one in FILE_FAULTS}) == len(FILE_FAULTS)
    for fault in FILE_FAULTS:
        assert set(fault.findings) <= known
        assert fault.findings or fault.why
