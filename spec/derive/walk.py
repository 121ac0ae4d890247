"""
A walk over a layout: its fields one by one, with its choices made.

All readers that are derived from a layout need the sequence of its fields for given
values of the fields on which choices depend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from construct import (
    Construct,
    FormatField,
    GreedyBytes,
    IfThenElse,
    Prefixed,
    Renamed,
    Struct,
)


class UnsuitableLayoutError(TypeError):
    """The layout has a part that derived readers do not support."""


class View:
    """The earlier fields that a choice reads: construct's context, by name."""

    def __init__(
        self,
        look: Callable[[str], Any],
        prefix: str = "",
        outer: View | None = None,
    ) -> None:
        self.look = look
        self.prefix = prefix
        self.outer = outer

    def __getitem__(self, name: str) -> Any:
        if name == "_":
            if self.outer is None:
                raise UnsuitableLayoutError("a choice looks out of its layout")
            return self.outer
        return self.look(self.prefix + name)

    def inside(self, name: str) -> View:
        """Return the view of a choice in the nested structure *name*."""
        return View(self.look, f"{self.prefix}{name}.", self)


def leaves(layout: Struct, view: View) -> Iterator[tuple[str, Any]]:
    """Yield dotted name and construct of every field, choices made."""
    for named in layout.subcons:
        if named.name is None:
            raise UnsuitableLayoutError("a field without a name")
        part = chosen_part(named, view)
        if isinstance(part, Struct):
            yield from leaves(part, view.inside(named.name))
        elif isinstance(part, Prefixed):
            length = chosen_part(part.lengthfield, view)
            whole = part.subcon is GreedyBytes and not part.includelength
            if not whole or not isinstance(length, FormatField):
                raise UnsuitableLayoutError(f"{named.name}: an unknown kind of prefix")
            yield view.prefix + named.name, Prefixed(length, GreedyBytes)
        else:
            yield view.prefix + named.name, part


def chosen_part(part: Any, view: View) -> Construct[Any, Any]:
    """Return *part* without its name, in the branch that *view* selects."""
    while isinstance(part, Renamed | IfThenElse):
        if isinstance(part, Renamed):
            part = part.subcon
        else:
            chosen: Any = part.condfunc
            chosen = chosen(view) if callable(chosen) else chosen
            part = part.thensubcon if chosen else part.elsesubcon
    found: Construct[Any, Any] = part
    return found


def names_that_choices_read(layout: Struct) -> set[str]:
    """Return the names of the fields on which the layout's choices depend."""
    found: set[str] = set()

    def note(name: str) -> int:
        found.add(name)
        return 0

    for _ in leaves(layout, View(note)):
        pass
    return found
