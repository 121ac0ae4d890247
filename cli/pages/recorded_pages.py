"""
Pages of recorded results: made from the JSON in git, without a new run.

The records are in git and the pages are not; ``rmqc report pages`` writes all of them.
Links on the pages are relative to ``docs``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.measurements.everything import TITLES
from bench.report.chart import picture
from bench.report.page import kept
from cli.exports.headers import header_tables
from cli.pages import implementations_page, profiles_page
from cli.pages.admin_page import page as admin_page
from cli.pages.header_pages import as_markdown
from conformance.client.clients import client_page
from conformance.client.clients.client_run import CLIENTS, reasoned
from conformance.interop.handover import record as handover_record
from conformance.interop.handover import table as handover_table
from conformance.interop.mqadmin import record as admin_record
from conformance.interop.programs import record as feature_record
from conformance.interop.programs import table as feature_table
from conformance.mutants import kill_page, kill_record
from conformance.mutants.mutant import all_mutants
from conformance.targets.implementations.record import implementations
from spec.wire.headers.header_history import merge

PERFORMANCE = Path(__file__).parents[2] / "docs" / "performance"
"""Recorded measurements of ``rmqc bench all``: one JSON file each."""


def recorded_pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each page and each chart."""
    yield "headers.md", as_markdown(merge(header_tables().values()))
    yield "mutants.md", kill_page.page(all_mutants(), kill_record.recorded())
    runs = client_page.recorded(client_page.FILE)
    shown = {one.name: reasoned(runs[one.name], one) for one in CLIENTS}
    yield "clients.md", client_page.page(shown)
    yield "interop.md", feature_table.page(feature_record.recorded())
    yield "implementations.md", implementations_page.page(list(implementations()))
    yield "profiles.md", profiles_page.page()
    yield "handover.md", handover_table.page(handover_record.recorded())
    if run := admin_record.recorded():
        yield "admin.md", admin_page(run)
    for name, report in kept(PERFORMANCE, TITLES).items():
        if report.rows:
            yield f"performance/{name}.svg", picture(report)
