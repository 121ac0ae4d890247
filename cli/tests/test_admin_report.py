"""The page of administration shows what was recorded, and what the reference does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cli.admin_page import REMARKS, SAME, outcome, page
from conformance.interop.admin_record import recorded
from conformance.interop.admin_steps import LOOK, SUB_COMMANDS
from reference.core.broker.dispatch import HANDLERS
from spec.registry import clause
from spec.wire.administration import ADMINISTRATION

PAGE = Path(__file__).parents[2] / "docs" / "admin.md"


def test_the_page_shows_what_is_recorded() -> None:
    run = recorded()
    assert run is not None
    told = "rmqc report admin -o docs/admin.md writes it anew"
    assert PAGE.read_text(encoding="utf-8") == page(run), told


def test_every_command_was_run_and_none_differs() -> None:
    run = recorded()
    assert run is not None
    assert len(SUB_COMMANDS) == len(set(SUB_COMMANDS)) == 48
    for name in (*SUB_COMMANDS, LOOK):
        assert outcome([one for one in run.steps if one.command == name]) == SAME, name
    assert REMARKS.keys() <= set(SUB_COMMANDS)


def test_a_cell_that_differs_is_seen_on_the_page() -> None:
    run = recorded()
    assert run is not None
    first = replace(run.steps[0], differences=("line 0: 'a', not 'b'",))
    text = page(replace(run, steps=(first, *run.steps[1:])))
    assert "**1 cells differ**" in text
    assert outcome([]) != SAME


def test_every_request_has_clauses_that_there_are_and_a_place() -> None:
    for code, clauses in ADMINISTRATION.items():
        assert code in HANDLERS
        assert clauses
        for name in clauses:
            assert clause(name).applies_to("4.6.0"), name
