"""
A cell of the handover matrix: who wrote, how it ended, who read, and what differed.

A writer is run once and its store copied for each reader, times of files and all. The
reader answers the same questions as the writer did, finishes what was begun and takes
more messages. In some cells it then ends in order, and the writer's release opens the
store again: the way back.
"""

from __future__ import annotations

import shutil
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Self

from conformance.harness.client.peer_errors import PeerError
from conformance.harness.releases import PINNED
from conformance.harness.targets.target import Target, TargetError, parse_target
from conformance.interop.handover.handover import (
    READER_SETTINGS,
    REFERENCE,
    WRITER_SETTINGS,
    Written,
    client_of,
    release_of,
    target_text,
)
from conformance.interop.handover.observe import Responses, check_complete, observe
from conformance.interop.handover.pending import (
    DENSE,
    Producer,
    finish,
    go_on,
    kept_delay_offsets,
    promised,
)
from conformance.interop.handover.write import write
from spec.layout import LayoutError

MAKES = (REFERENCE, *PINNED)
STOP, KILL = "stop", "kill"
ENDINGS = (STOP, KILL)
OVER, BACK = "over", "back"
UPGRADES = {("4.6.0", "5.3.3"), ("4.9.7", "5.3.3")}
"""Pairs of real releases that users go up between, and back from."""
EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Difference between writer and reader in one item."""

    hop: str
    question: str
    item: str
    before: object
    after: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One writer, one ending, one reader; with what came of it."""

    writer: str
    reader: str
    ending: str
    refusal: str | None = None
    """Why the reader did not get to the last question; None where it did."""
    compared: dict[str, int] = field(default_factory=dict)
    """Number of compared items, by hop and question."""
    differences: list[Difference] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Writer, reader and ending."""
        return f"{self.writer} to {self.reader} after {self.ending}"

    @property
    def comes_back(self) -> bool:
        """Whether the writer's release opens the store once more afterwards."""
        pair = (self.writer, self.reader)
        is_ours = REFERENCE in pair and self.writer != self.reader
        return self.ending == STOP and (is_ours or pair in UPGRADES)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, shown: dict[str, Any]) -> Self:
        """Return the cell that plain values show."""
        found = [Difference(**one) for one in shown["differences"]]
        return cls(**{**shown, "differences": found})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A store that a writer has left, and what it showed of it before."""

    writer: str
    ending: str
    store: Path
    written: Written
    responses: Responses


def all_cells() -> list[Cell]:
    """Return every cell, not yet run: writers one after the other."""
    return [
        Cell(writer=writer, reader=reader, ending=ending)
        for writer, ending, reader in product(MAKES, ENDINGS, MAKES)
    ]


def write_store(writer: str, ending: str, directory: Path) -> Given:
    """Let *writer* fill a store below *directory* and end."""
    store = directory / "written"
    with parse_target(target_text(writer), conf=WRITER_SETTINGS, store=store) as target:
        with client_of(target) as broker:
            written = write(broker, release=release_of(writer), store=store)
            responses = observe(broker, written)
        check_complete(written, responses)
        end(target, ending)
    return Given(
        writer=writer, ending=ending, store=store, written=written, responses=responses
    )


def end(target: Target, ending: str) -> None:
    """Stop a target in order, or kill it."""
    if ending == STOP:
        target.stop()
    else:
        target.kill()


def run(cell: Cell, given: Given, directory: Path) -> Cell:
    """Open a copy of the store with the reader; return the cell with differences."""
    store = directory / f"read-by-{cell.reader}"
    shutil.copytree(given.store, store)
    written = deepcopy(given.written)
    over, back = Comparison(OVER), Comparison(BACK)
    try:
        last = read(cell.reader, store, written, given.responses, over)
        if cell.comes_back:
            read(cell.writer, store, written, last, back)
    except (TargetError, PeerError, AssertionError, LayoutError) as error:
        return replace(cell, refusal=str(error).partition("\n")[0])
    finally:
        shutil.rmtree(store)
    return replace(
        cell,
        compared=over.compared | back.compared,
        differences=over.differences + back.differences,
    )


def read(
    make: str, store: Path, written: Written, before: Responses, found: Comparison
) -> Responses:
    """Let *make* open the store, compare, finish and go on; return the responses."""
    is_decided = found.hop == BACK
    with parse_target(target_text(make), conf=READER_SETTINGS, store=store) as target:
        with client_of(target) as broker, client_of(target) as client:
            producer = Producer(client)
            found.compare(before, observe(broker, written))
            finished = finish(broker, producer, written, is_decided=is_decided)
            promise = promised(written, finished, is_decided=is_decided)
            found.compare(promise, finished)
            places = go_on(broker, written)
            found.compare(
                {"next messages": dict.fromkeys(places, DENSE)},
                {"next messages": places},
            )
            last = observe(broker, written)
        target.stop()
        wanted, kept = kept_delay_offsets(store, finished["delayed messages"])
        found.compare({"delay offsets": wanted}, {"delay offsets": kept})
    return last


class Comparison:
    """Answers before and after, of one hop, and where they differ."""

    def __init__(self, hop: str) -> None:
        self.hop = hop
        self.compared: dict[str, int] = {}
        self.differences: list[Difference] = []

    def compare(self, before: Responses, after: Responses) -> None:
        """Compare answers to the same questions, item by item."""
        for question, items in before.items():
            later = after[question]
            every = sorted(items.keys() | later.keys())
            self.compared[f"{self.hop}: {question}"] = len(every)
            for item in every:
                if items.get(item) != later.get(item):
                    self.differences.append(
                        Difference(
                            hop=self.hop,
                            question=question,
                            item=item,
                            before=items.get(item),
                            after=later.get(item),
                        )
                    )
