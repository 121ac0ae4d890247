"""The page of clients: what is recorded is what is shown, and nothing unexplained."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from cli.tests.pages import reports
from conformance.client.clients.client_page import keep, page, recorded
from conformance.client.clients.client_run import (
    CLIENTS,
    KNOWN,
    Cell,
    Client,
    ClientRun,
)
from conformance.harness.report.known_failures import load_known

FAILURE = """\
CLIENT-RETRY-001 (MUST) is not met.
  A sentence.

  got       attempts: 2
  expected  attempts: 3
"""


def a_run(name: str, *cells: Cell) -> ClientRun:
    return ClientRun(name=name, release="4.6.0", date="2026-11-22", cells=cells)


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    runs = {
        one.name: a_run(one.name, Cell(clause="CLIENT-RETRY-001", outcome="pass"))
        for one in CLIENTS
    }
    keep(runs, tmp_path / "runs.json")
    assert recorded(tmp_path / "runs.json") == runs
    assert list(recorded(tmp_path / "runs.json")) == [one.name for one in CLIENTS]


def test_a_cell_that_is_not_green_is_explained() -> None:
    known = Cell(clause="CLIENT-RETRY-001", outcome="known", detail="it never retries")
    green = Cell(clause="CLIENT-RETRY-002", outcome="pass")
    shown = page({"Node ali-ons": a_run("Node ali-ons", known, green)})
    assert "- `k` **CLIENT-RETRY-001**: it never retries" in shown
    assert "**CLIENT-RETRY-002**" not in shown


def test_a_clause_that_a_client_has_no_test_of_has_an_empty_cell() -> None:
    one = a_run("Java 4.6.0", Cell(clause="CLIENT-RETRY-001", outcome="pass"))
    shown = page({"Java 4.6.0": one, "reference": a_run("reference")})
    row = next(line for line in shown.splitlines() if "| CLIENT-RETRY-001" in line)
    assert row.endswith("| ✓ | · |")


def test_a_run_of_some_clauses_renews_their_cells_alone() -> None:
    def cell(clause: str, outcome: str) -> Cell:
        return Cell(clause=clause, outcome=outcome)

    earlier = a_run(
        "reference",
        cell("CLIENT-RETRY-001", "pass"),
        cell("CLIENT-RETRY-002", "fail"),
        cell("CLIENT-THAT-IS-GONE-001", "pass"),
    )
    later = a_run(
        "reference",
        cell("CLIENT-RETRY-001", "unsupported"),
        cell("CLIENT-RETRY-002", "pass"),
        cell("CLIENT-RETRY-014", "pass"),
    )
    assert earlier.renewed(later, "CLIENT-RETRY-002, *-014").cells == (
        cell("CLIENT-RETRY-001", "pass"),
        cell("CLIENT-RETRY-002", "pass"),
        cell("CLIENT-RETRY-014", "pass"),
    )


def test_a_failure_says_what_was_found() -> None:
    made = reports.report(
        {"CLIENT-RETRY-001": "fail"}, target="client:x", release="4.6.0"
    )
    failure = replace(reports.FAILURE, text=FAILURE)
    failed = replace(made, results=[replace(made.results[0], failure=failure)])
    (cell,) = ClientRun.of_report("reference", failed).cells
    assert cell.detail == "got attempts: 2; expected attempts: 3"


@pytest.mark.parametrize("name", [one.name for one in CLIENTS])
def test_a_recorded_client_has_no_failure_without_a_reason(name: str) -> None:
    run = recorded()[name]
    bad = [cell.clause for cell in run.cells if cell.outcome in {"fail", "error"}]
    assert bad == []


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_the_known_failures_of_a_client_are_those_recorded(client: Client) -> None:
    cells = recorded()[client.name].cells
    known = load_known(client.known if client.known.exists() else None)
    listed = {one.clause: one.reason for one in known}
    # A test that names two clauses may stop at the other one.
    stopped = {cell.clause for cell in cells if cell.outcome == "unsupported"}
    stopped |= {one.clause for one in known if one.flaky}
    found = {cell.clause: cell.detail for cell in cells if cell.outcome == "known"}
    expected = {
        one: listed[one] for one in listed if one in found or one not in stopped
    }
    assert found == expected


def test_each_file_of_known_failures_is_of_a_client() -> None:
    assert {one.name for one in KNOWN.glob("*.toml")} <= {
        one.known.name for one in CLIENTS
    }
