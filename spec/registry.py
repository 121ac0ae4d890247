"""
Every clause of the specification, collected from the modules that declare them.

A clause exists because a module of ``spec`` has it; there is no list to maintain.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType, ModuleType

import spec
from spec.clause import Clause


class UnknownClauseError(KeyError):
    """No module of the specification declares a clause of this id."""


@cache
def all_clauses() -> Mapping[str, Clause]:
    """Return every declared clause by id, in the order of the ids."""
    found: dict[str, Clause] = {}
    for module in modules():
        for clause in _clauses_of(module):
            if found.setdefault(clause.id, clause) is not clause:
                raise ValueError(f"{clause.id} is declared twice ({module.__name__})")
    return MappingProxyType(dict(sorted(found.items())))


def clause(clause_id: str) -> Clause:
    """Return the clause of this id."""
    try:
        return all_clauses()[clause_id]
    except KeyError:
        raise UnknownClauseError(f"no clause has the id {clause_id}") from None


def modules() -> Iterator[ModuleType]:
    """Yield every module of the specification, its tests apart."""
    for found in pkgutil.walk_packages(spec.__path__, prefix="spec."):
        if ".tests" not in found.name:
            yield importlib.import_module(found.name)


def _clauses_of(module: ModuleType) -> Iterator[Clause]:
    for value in vars(module).values():
        if isinstance(value, Clause):
            yield value
