"""
The smallest program that still shows a difference.

A step may be left out of any program, for it names what it is about by symbols. So
halves of a program are left out, then quarters, then single steps; what remains is made
plain, field by field. Each try is a run on both targets: dozens, where shrinking the
choices behind a program takes hundreds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

from conformance.differential.program import Program
from conformance.differential.steps.step import Step

Shows = Callable[[Program], bool]


def shrunk(program: Program, shows: Shows) -> Program:
    """Return the smallest program that can be made of *program* and still *shows*."""
    before: Program | None = None
    while before != program:
        before = program
        program = _plainer(_shorter(program, shows), shows)
    return program


def _shorter(program: Program, shows: Shows) -> Program:
    size = max(1, len(program) // 2)
    while True:
        start = 0
        while start < len(program):
            candidate = program[:start] + program[start + size :]
            if shows(candidate):
                program = candidate
            else:
                start += size
        if size == 1:
            return program
        size //= 2


def _plainer(program: Program, shows: Shows) -> Program:
    for index in range(len(program)):
        for plainer in _plainer_steps(program[index]):
            step = plainer(program[index])
            candidate = (*program[:index], step, *program[index + 1 :])
            if step != program[index] and shows(candidate):
                program = candidate
    return program


def _plainer_steps(step: Step) -> Iterator[Callable[[Step], Step]]:
    """Yield edits that set one field to its default, or shorten a list in a field."""
    for one in fields(step):
        name, value = one.name, getattr(step, one.name)
        if value == one.default:
            continue
        yield _setting(name, one.default)
        if isinstance(value, tuple):
            yield from (
                _setting(name, value[:at] + value[at + 1 :]) for at in range(len(value))
            )


def _setting(name: str, value: object) -> Callable[[Step], Step]:
    return lambda step: replace(step, **{name: value})
