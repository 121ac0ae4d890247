"""The page of real clients shows what was recorded, all of it, and explains it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.interop.handover.handover import REFERENCE
from conformance.interop.java import tools
from conformance.interop.programs.cell import (
    CLIENTS,
    OWN,
    REAL,
    SERVERS,
    Cell,
    all_cells,
    expected,
    offers,
)
from conformance.interop.programs.features import NAMES, TOOL_FEATURES
from conformance.interop.programs.other_clients import CLIENTS as OTHERS
from conformance.interop.programs.reasons import REASONS, reason_for
from conformance.interop.programs.record import forget, keep, recorded
from conformance.interop.programs.run import STEPS
from conformance.interop.programs.table import (
    FOUND,
    LACKS,
    MISSING,
    UNTRIED,
    WORKS,
    page,
    shown,
)

JAVA = "Java 4.6.0"


def test_the_page_shows_what_is_recorded() -> None:
    cells = recorded()
    text = page(cells)
    for name in NAMES:
        for server in SERVERS:
            row = [shown(cells, client, name, server) for client in CLIENTS]
            assert f"| {name} | {' | '.join(row)} |" in text
    assert "## Not explained" not in text


def test_every_cell_of_the_reference_and_its_model_is_recorded() -> None:
    """Check the recorded cells; missing ones of other servers appear as such."""
    needed = [cell.name for cell in all_cells() if cell.server in {REFERENCE, REAL}]
    every = [cell.name for cell in all_cells()]
    assert set(needed) <= recorded().keys() <= set(every)
    assert list(recorded()) == [name for name in every if name in recorded()]


def test_whatever_ends_otherwise_is_explained() -> None:
    for cell in recorded().values():
        assert cell.as_expected or reason_for(cell), (cell.name, cell.outcome)


def test_the_reference_is_to_clients_what_the_real_broker_is() -> None:
    cells = recorded()
    for cell in cells.values():
        if cell.server == REFERENCE:
            real = cells[replace(cell, server=REAL).name]
            assert cell.outcome == real.outcome, cell.name


def test_every_reason_is_needed_and_has_a_ground() -> None:
    cells = recorded().values()
    used = {id(reason_for(cell)) for cell in cells if not cell.as_expected}
    for reason in REASONS:
        assert id(reason) in used, reason.text
        assert reason.clauses or reason.source


def test_every_feature_has_a_program() -> None:
    assert sorted([*STEPS, *tools.STEPS]) == sorted(NAMES)
    for client in OTHERS.values():
        assert client.expected.keys() | client.untried <= set(NAMES)
        assert not client.expected.keys() & client.untried


def test_the_reference_client_has_every_feature_but_those_of_tools() -> None:
    assert set(tools.STEPS) == TOOL_FEATURES
    for name in NAMES:
        assert offers(OWN, name) == (name in STEPS)
        if offers(OWN, name):
            assert expected(OWN, name) == expected(JAVA, name)


def test_a_client_offers_what_its_release_has() -> None:
    assert not offers("Java 4.4.0", "lite pull")
    assert offers(JAVA, "lite pull")
    assert not offers("Node", "pull")


@pytest.mark.parametrize("server", SERVERS)
def test_a_wrong_outcome_is_shown_as_found(server: str) -> None:
    name = "transaction"
    right = Cell(client=JAVA, feature=name, server=server, outcome=expected(JAVA, name))
    wrong = replace(right, outcome={"error": "RemotingTimeoutException"})
    assert shown({right.name: right}, JAVA, name, server) == WORKS
    assert shown({wrong.name: wrong}, JAVA, name, server) == FOUND
    assert wrong.name in page({wrong.name: wrong})
    assert shown({}, JAVA, name, server) == MISSING
    assert shown({}, "Node", "pull", server) == LACKS
    assert shown({}, "Node", "broadcast", server) == UNTRIED


def test_cells_of_a_word_are_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    for word in (CLIENTS[0], NAMES[0], SERVERS[0]):
        keep(recorded(), file)
        forget({word}, file)
        left = recorded(file).values()
        assert left
        assert not any(word in {one.client, one.feature, one.server} for one in left)
    forget({"all"}, file)
    assert recorded(file) == {}
