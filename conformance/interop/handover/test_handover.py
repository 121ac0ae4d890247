"""
A store changes hands: what one broker wrote, another serves, every message of it.

Every cell of the matrix of docs/handover.md that the reference has a part in, live. The
matrix among real releases is run by ``rmqc report handover``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from conformance.harness.process.process import ProcessError
from conformance.harness.releases import PINNED
from conformance.interop.handover.cell import (
    STOP,
    Cell,
    Given,
    all_cells,
    run,
    write_store,
)
from conformance.interop.handover.handover import REFERENCE
from conformance.interop.handover.long_topic import BODIES, read_long, write_long
from conformance.interop.handover.name_server import (
    FIRST,
    MORE,
    listed,
    name_server,
    put,
)
from conformance.interop.handover.reasons import reason_for
from conformance.interop.handover.table import difference_line
from spec.clause import release_key

Writers = Callable[[str, str], Given]

OURS = [cell for cell in all_cells() if REFERENCE in {cell.writer, cell.reader}]
UNREADABLE = "mutant:blank_magic_wrong"
"""Reference with a wrong magic number at the end of its files."""


@pytest.fixture(scope="session")
def given(tmp_path_factory: pytest.TempPathFactory) -> Writers:
    """Return a function that lets a writer fill a store, cached for all readers."""

    @cache
    def make(writer: str, ending: str) -> Given:
        return write_store(writer, ending, tmp_path_factory.mktemp("written"))

    return make


@pytest.mark.parametrize("cell", OURS, ids=lambda cell: cell.name.replace(" ", "-"))
def test_what_one_broker_wrote_another_serves(
    tmp_path: Path, given: Writers, cell: Cell
) -> None:
    done = run(cell, given(cell.writer, cell.ending), tmp_path)
    assert done.refusal is None
    assert unexplained(done) == []
    if cell.ending == STOP and is_of_4(cell.writer) and is_of_4(cell.reader):
        # The kernel decides the times of files, on which such a search depends.
        others = {one.question for one in done.differences} - {"times in long queues"}
        assert not others, "they are of one kind: nothing may differ"


def test_what_nobody_else_would_write_is_noticed(
    tmp_path: Path, given: Writers
) -> None:
    cell = Cell(writer=UNREADABLE, reader=REFERENCE, ending=STOP)
    done = run(cell, given(UNREADABLE, STOP), tmp_path)
    assert done.refusal or unexplained(done)


@pytest.mark.parametrize(
    ("reader", "left"), [(REFERENCE, 1), ("4.9.7", 1), ("5.4.0", len(BODIES))]
)
def test_a_long_topic_is_the_end_for_a_release_before_5(
    tmp_path: Path, long_store: Path, reader: str, left: int
) -> None:
    """It is REC-SCAN-012: what was stored after the first such record is lost."""
    found = read_long(reader, long_store, tmp_path / "copy")
    assert found == list(BODIES[:left])


@pytest.fixture(scope="module")
def long_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of 5.3.3 with a record of a long topic."""
    store = tmp_path_factory.mktemp("long") / "store"
    write_long("5.3.3", store)
    return store


KEY_VALUES = {
    "": True,
    " ": True,
    "null": True,
    "[]": True,
    '{"configTable":{"a":{"k":[1]}}}': True,
    '{"configTable":null}': False,
    '{"configTable":[1,2]}': False,
    '{"configTable":{"a":"b"}}': False,
    '{"configTable":{"a"': False,
    "7": False,
}
"""Contents of kvConfig.json, and whether a name server of 4.6.0 starts on them."""
REFUSED_BY_FASTJSON2 = {" ", "[]"}
"""Contents on which a name server from 5.4 on does not start."""


@pytest.mark.parametrize("release", PINNED)
def test_key_values_go_from_name_server_to_name_server(
    tmp_path: Path, release: str
) -> None:
    file = tmp_path / "kvConfig.json"
    with name_server(release, file, tmp_path / "first") as theirs:
        put(theirs, FIRST)
    with name_server(REFERENCE, file, tmp_path / "ours") as ours:
        assert listed(ours) == FIRST
        put(ours, MORE)
    with name_server(release, file, tmp_path / "last") as theirs:
        assert listed(theirs) == {**FIRST, **MORE}


def starts_on(make: str, text: str, directory: Path) -> bool:
    """Return whether a name server starts on a file of key values, or ends."""
    file = directory / "kvConfig.json"
    file.write_text(text)
    try:
        with name_server(make, file, directory / "home"):
            return True
    except ProcessError as error:
        assert "ended with" in str(error)  # noqa: PT017
        return False


@pytest.mark.parametrize("release", PINNED)
def test_name_servers_start_on_the_same_key_values(
    tmp_path: Path, release: str
) -> None:
    for number, text in enumerate(KEY_VALUES):
        found = {}
        is_refused = text in REFUSED_BY_FASTJSON2 and release_key(release) >= (5, 4)
        expected = {release: KEY_VALUES[text] and not is_refused}
        expected[REFERENCE] = KEY_VALUES[text]
        for make in (release, REFERENCE):
            directory = tmp_path / f"{number} {make}"
            directory.mkdir()
            found[make] = starts_on(make, text, directory)
        assert found == expected, text


def unexplained(cell: Cell) -> list[str]:
    """Return the differences of a cell that no clause explains."""
    return [
        difference_line(one)
        for one in cell.differences
        if reason_for(cell, one) is None
    ]


def is_of_4(make: str) -> bool:
    """Return whether it is a release before 5.0; the reference is as one."""
    return make == REFERENCE or release_key(make) < (5,)
