"""
The switch of all proxies of this process: the mutation that acts now, or none.

It also keeps the frames that it has met: the places of values for a recording run, and
earlier values for stale ones.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from conformance.mutating_proxy.changes import Setting
from conformance.mutating_proxy.frame_tree import Tree, frame_of
from conformance.mutating_proxy.mutation import (
    FRAME,
    FrameKind,
    Mutation,
    Unit,
    Verb,
    change_tree,
)
from conformance.mutating_proxy.places import kind_of, occurrences, occurrences_of
from spec.layout import LayoutError

KEPT = 16
"""Different earlier values of one place that are kept."""


class Switch:
    """State of the proxies while one test runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.mutation: Mutation | None = None
        self.is_recording = False
        self.count = 0
        """Frames that the mutation has changed since it was set."""
        self._has_passed = False
        """Whether a request of a mutation about later ones has passed."""
        self._met: set[Unit] = set()
        self._place: tuple[FrameKind, int, str] | None = None
        self._previous: deque[Any] = deque(maxlen=KEPT)
        self._others: deque[Any] = deque(maxlen=KEPT)
        self._response: Tree | None = None

    def set(self, mutation: Mutation | None) -> None:
        """Let *mutation* act from now on; None lets every frame pass unchanged."""
        with self._lock:
            place = self._place
            if mutation is not None:
                place = (mutation.frame_kind, mutation.code, mutation.place)
            if place != self._place:
                self._place = place
                self._others.clear()
                self._previous.clear()
                self._response = None
            _keep(self._others, self._previous)
            self._previous.clear()
            if mutation is not None and mutation.change == Verb.PREVIOUS:
                self._response = None  # names differ between tests
            self.mutation, self.count = mutation, 0
            self._has_passed = False

    def off(self) -> None:
        """Let every frame pass, and keep the count."""
        self.mutation = None

    def record(self) -> None:
        """Begin to record the units of a test."""
        self.is_recording, self._met = True, set()

    def met(self) -> Iterable[Unit]:
        """Return the units that were met since the recording began."""
        with self._lock:
            return set(self._met)

    def acts_on(self, frame_kind: FrameKind, code: int) -> Mutation | None:
        """Return the mutation, if it is about such frames."""
        one = self.mutation
        is_meant = one is not None and one.frame_kind is frame_kind and one.code == code
        return one if is_meant else None

    def is_first(self) -> bool:
        """Return whether this is the first call since the mutation was set."""
        with self._lock:
            is_first, self._has_passed = not self._has_passed, True
        return is_first

    def counted(self) -> None:
        """Count a frame that was changed."""
        self.count += 1

    def see(self, frame_kind: FrameKind, code: int, tree: Tree) -> None:
        """Record what *tree* contains, as far as something needs it."""
        if self.is_recording:
            units = {
                Unit(frame_kind, code, one.place, kind_of(one.value))
                for one in occurrences(tree)
            }
            with self._lock:
                self._met |= units | {Unit(frame_kind, code, FRAME, "frame")}

    def changed(
        self, frame_kind: FrameKind, code: int, frame: bytes, tree: Tree
    ) -> bytes:
        """Return *frame*, changed by the mutation if it is about a value of *tree*."""
        one = self.acts_on(frame_kind, code)
        if one is None:
            return frame
        values = [item.value for item in occurrences_of(tree, one.place)]
        with self._lock:
            setting = Setting(
                previous=tuple(self._previous), others=tuple(self._others)
            )
            is_changed = change_tree(tree, one, setting)
            _keep(self._previous, values)
        if not is_changed:  # the tree may lack details, as a property that comes twice
            return frame
        try:
            changed = frame_of(tree)
        except LayoutError:  # the change cannot be written
            return frame
        if changed != frame:
            self.counted()
        return changed

    def previous_response(self, tree: Tree | None) -> Tree | None:
        """Return the response before *tree*, which is kept instead."""
        before, self._response = self._response, tree or self._response
        return before


def _keep(kept: deque[Any], values: Iterable[Any]) -> None:
    """Append each of *values*, or move it to the end of those that are *kept*."""
    for value in values:
        with suppress(ValueError):
            kept.remove(value)
        kept.append(value)


SWITCH = Switch()
"""The switch of this process: a worker runs one test at a time."""
