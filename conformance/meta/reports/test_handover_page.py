"""The page of handovers shows what was recorded, all of it, and explains it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.interop.handover.cell import (
    KILL,
    STOP,
    Cell,
    Comparison,
    Difference,
    all_cells,
)
from conformance.interop.handover.handover import REFERENCE
from conformance.interop.handover.reasons import (
    REASONS,
    differences_of,
    reason_for,
)
from conformance.interop.handover.record import forget, keep, recorded
from conformance.interop.handover.table import (
    BOTH_WAYS,
    FOUND,
    MISSING,
    QUESTIONS,
    SAME,
    page,
    shown,
)
from spec.clause import release_key

UP = Cell(writer="4.6.0", reader="5.3.3", ending=STOP)
DOWN = Cell(writer="5.3.3", reader="4.6.0", ending=STOP)
KILLED = Cell(writer="4.6.0", reader="4.4.0", ending=KILL)
LATER = Difference(
    hop="over", question="times", item="after the last", before=5, after=6
)
AGAIN = Difference(
    hop="over", question="keys", item="also-1", before=["1:ab"], after=["1:ab", "1:ab"]
)
CHECKED = Difference(
    hop="over",
    question="half messages",
    item="rolled back, question",
    before="not checked",
    after="checked",
)
UNTIMED = Difference(
    hop="over", question="timed messages", item="timed 1", before="x", after="missing"
)
BACKWARDS = Cell(writer="5.5.0", reader="5.4.0", ending=STOP)
REFUSED = Difference(
    hop="over", question="start", item="5.4.0", before="starts", after="ended with 253"
)
EMPTY = Difference(
    hop="over", question="whole batches", item="ends", before=[0, 5], after=[0, 0]
)


def test_the_page_shows_what_is_recorded() -> None:
    cells = recorded()
    text = page(cells)
    for cell in cells.values():
        assert shown(cell) in text, cell.name
    assert MISSING not in text.partition("## ")[2]
    assert f"{FOUND} |" not in text


def test_every_cell_is_recorded_and_was_asked_every_question() -> None:
    cells = recorded()
    assert list(cells) == [cell.name for cell in all_cells()]
    for cell in cells.values():
        if cell.refusal:
            assert not cell.compared
            continue
        questions = {name.partition(": ")[2] for name in cell.compared}
        is_5 = cell.writer != REFERENCE and release_key(cell.writer) >= (5,)
        extra = set() if is_5 else {"whole batches", "timed messages"}
        assert questions == QUESTIONS.keys() - extra, cell.name
        assert any(name.startswith("back") for name in cell.compared) == cell.comes_back


def test_every_difference_is_explained_by_a_clause() -> None:
    for cell in recorded().values():
        for one in differences_of(cell):
            assert reason_for(cell, one) is not None, (cell.name, one)


def test_after_a_stop_the_reference_and_releases_before_5_see_the_same() -> None:
    for cell in recorded().values():
        others = {cell.writer, cell.reader} - {REFERENCE}
        is_ours = REFERENCE in {cell.writer, cell.reader}
        if is_ours and cell.ending == STOP and all(map(_is_of_4, others)):
            assert shown(cell) in {SAME, BOTH_WAYS}, cell.name


@pytest.mark.parametrize(
    ("cell", "difference"),
    [
        (UP, LATER),
        (DOWN, replace(LATER, before=6, after=5)),
        (KILLED, AGAIN),
        (DOWN, CHECKED),
        (DOWN, UNTIMED),
        (DOWN, EMPTY),
        (replace(DOWN, ending=KILL), replace(EMPTY, after=[0, 2])),
        (BACKWARDS, REFUSED),
        (UP, replace(LATER, hop="back", before=6, after=5)),
        (DOWN, replace(CHECKED, hop="back")),
    ],
)
def test_a_difference_that_a_clause_foretells_has_a_reason(
    cell: Cell, difference: Difference
) -> None:
    assert reason_for(cell, difference) in REASONS


@pytest.mark.parametrize(
    ("cell", "difference"),
    [
        (UP, replace(LATER, after=7)),
        (UP, replace(LATER, before=6, after=5)),
        (UP, replace(LATER, item="at 2")),
        (KILLED, LATER),
        (KILLED, replace(AGAIN, after=[])),
        (replace(KILLED, ending=STOP), AGAIN),
        (UP, CHECKED),
        (UP, replace(CHECKED, hop="back")),
        (DOWN, replace(CHECKED, item="to be committed, question")),
        (UP, UNTIMED),
        (DOWN, replace(EMPTY, after=[0, 2])),
        (UP, EMPTY),
        (DOWN, REFUSED),
        (replace(BACKWARDS, writer="5.3.3"), REFUSED),
        (UP, replace(LATER, question="messages", before=["0:a"], after=[])),
    ],
)
def test_a_difference_that_no_clause_foretells_has_none(
    cell: Cell, difference: Difference
) -> None:
    assert reason_for(cell, difference) is None
    assert shown(replace(cell, differences=[difference])) == FOUND


def test_a_comparison_finds_what_is_missing_more_and_other() -> None:
    found = Comparison("over")
    found.compare({"q": {"a": 1, "b": 2, "c": 3}}, {"q": {"b": 2, "c": 4, "d": 5}})
    assert [one.item for one in found.differences] == ["a", "c", "d"]
    assert found.compared == {"over: q": 4}


def test_a_record_is_read_back_and_forgotten_in_part(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    cells = {cell.name: replace(cell, differences=[LATER]) for cell in (DOWN, KILLED)}
    keep(cells, file)
    assert recorded(file) == cells
    forget({"5.3.3"}, file)
    assert list(recorded(file)) == [KILLED.name]
    assert MISSING in page(recorded(file))


def _is_of_4(make: str) -> bool:
    return release_key(make) < (5,)
