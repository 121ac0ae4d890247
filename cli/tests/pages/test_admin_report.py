"""The page of administration shows what was recorded, and what the reference does."""

from __future__ import annotations

from dataclasses import replace

from cli.pages.admin_page import REMARKS, SAME, outcome, page
from conformance.interop.mqadmin.record import recorded
from conformance.interop.mqadmin.steps import QUERY, SUB_COMMANDS
from reference.core.broker.processor_table import PROCESSORS
from spec.registry import clause
from spec.wire.admin.admin_processor import ADMINISTRATION


def test_the_page_shows_what_is_recorded() -> None:
    run = recorded()
    assert run is not None
    text = page(run)
    for name in SUB_COMMANDS:
        assert f"`{name}`" in text, name
    assert "cells differ**" not in text


def test_every_command_was_run_and_none_differs() -> None:
    run = recorded()
    assert run is not None
    assert len(SUB_COMMANDS) == len(set(SUB_COMMANDS)) == 48
    for name in (*SUB_COMMANDS, QUERY):
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
        assert code in PROCESSORS
        assert clauses
        for name in clauses:
            assert clause(name).applies_to("4.6.0"), name
