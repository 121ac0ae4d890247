"""
The plain view of any declared layout, and the layouts of a store's files.

Records, frames and queues have views of their own. Of the rest this shows the fields,
and below them the clauses of the layout's module that concern releases and issues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import PurePath

from construct import Struct

from spec.clause import Clause
from spec.layout import LayoutError, Trace, parse
from spec.layouts import LAYOUTS
from spec.registry import modules
from spec.store.timer.timer_wheel import TIMER_CHECKPOINT, TIMER_WHEEL
from spec.views.view import Reading, Recognition, paragraphs, to_know, tree

LAYOUT_OF_FILE = {
    TIMER_WHEEL: "timer_slot",
    TIMER_CHECKPOINT: "timer_checkpoint",
}
"""Layouts by the name of the file whose first bytes they are."""
LAYOUT_OF_FOLDER = {
    "consumequeue_ext": "consume_queue_extension_unit",
    "batchconsumequeue": "batch_consume_queue_unit",
    "timerlog": "timer_unit",
}
"""Layouts by a folder above the file that is a row of them."""


def layout_of_path(path: PurePath) -> str | None:
    """Return the name of the layout with which a file of a store begins, if known."""
    if path.name in LAYOUT_OF_FILE:
        return LAYOUT_OF_FILE[path.name]
    folders = reversed(path.parts[:-1][-3:])
    return next((LAYOUT_OF_FOLDER[f] for f in folders if f in LAYOUT_OF_FOLDER), None)


def layout_view(name: str) -> Callable[[bytes, int, Reading], Recognition]:
    """Return the view of bytes as the layout *name*."""
    layout = LAYOUTS[name]

    def view(data: bytes, position: int, reading: Reading) -> Recognition:
        trace = Trace()
        parse(layout, data, trace)
        size = max((span.end for span in trace), default=0)
        if size == 0:
            raise LayoutError("no bytes of it are here", offset=position)
        clauses = {"": clauses_of(name)}
        text = tree(layout, data[:size], reading, clauses, base=position)
        kind = name.replace("_", " ")
        shown = paragraphs(text, to_know(clauses, reading))
        return Recognition(kind=kind, text=shown, size=size)

    return view


@cache
def clauses_of(name: str) -> tuple[Clause, ...]:
    """Return the clauses of the module that declares the layout *name*."""
    layout = LAYOUTS[name]
    return tuple(
        value
        for module in modules()
        if any(_is(value, layout) for value in vars(module).values())
        and module.__name__.startswith(("spec.store.", "spec.wire."))
        for value in vars(module).values()
        if isinstance(value, Clause)
    )


def _is(value: object, layout: Struct) -> bool:
    return value is layout


LAYOUT_VIEWS: Mapping[str, Callable[[bytes, int, Reading], Recognition]] = {
    name.replace("_", " "): layout_view(name) for name in LAYOUTS
}
"""The plain views by name, with spaces."""
