"""Generated example of a failure, as Hypothesis notes it on the error."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import dropwhile

import pytest
from hypothesis.errors import Flaky

from conformance.harness.failure.field_values import named_codes

EXPLANATION = "Explanation:"
"""Note of Hypothesis before the lines that only failing examples executed."""
_ARGUMENT = re.compile(r"^    (\w+)=.*\n(?:     .*\n)*", re.MULTILINE)
"""An argument of the example, with the lines that continue its value."""


def peers_error(error: BaseException) -> BaseException:
    """Return the error of the test behind one of Hypothesis.

    Hypothesis raises its own where a peer behaves differently on repetition.
    """
    is_group = isinstance(error, BaseExceptionGroup)
    if isinstance(error, Flaky) and not is_group and error.__context__ is not None:
        return error.__context__
    return error


def notes_of(error: BaseException, item: pytest.Item) -> list[str]:
    """Return the notes of *error* about the failure of *item*, such as an example.

    Fixtures are left out of the example: a peer's developer has none of them. So is
    Hypothesis' list of executed lines, which are the harness'.
    """
    notes = _peer_notes(error)
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    notes = notes or next(filter(None, map(_peer_notes, parts)), [])
    fixtures = fixtures_of(item)
    return [named_codes(without_arguments(note, fixtures)) for note in notes]


def _peer_notes(error: BaseException) -> list[str]:
    notes = list(getattr(error, "__notes__", []))
    if EXPLANATION in notes:
        begin = notes.index(EXPLANATION)
        rest = dropwhile(lambda note: note.startswith("    "), notes[begin + 1 :])
        notes = [*notes[:begin], *rest]
    return notes


def fixtures_of(item: pytest.Item) -> set[str]:
    """Return the names of the fixtures of *item*, without those of its parameters."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return set(getattr(item, "fixturenames", ())) - set(parameters)


def without_arguments(note: str, names: Collection[str]) -> str:
    """Return the example in *note* without the arguments *names*."""
    return _ARGUMENT.sub(lambda found: "" if found[1] in names else found[0], note)
