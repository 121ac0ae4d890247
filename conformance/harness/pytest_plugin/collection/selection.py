"""
Selection and order of tests: suites, ranges of releases, capabilities.

Decisions that need no run are made here, in this order: the release, the permission to
write, the capabilities of the target. Tests without a clause are rejected.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from conformance.harness.blocked.skips import not_applicable, unsupported
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.pytest_plugin.known_settings import respect_settings
from conformance.harness.pytest_plugin.options import (
    BROKER_SUITES,
    SUITES,
    Options,
    suite_of,
)
from conformance.harness.targets.target import Capability, Target
from spec.registry import all_clauses

WIRE_FIXTURES = {"namesrv", "broker", "topic"}
OWN_TARGET_FIXTURES = {"start_target", "own_target"}


def clauses_of(item: pytest.Item) -> list[str]:
    """Return the ids of the clauses that *item* names, nearest marker first."""
    ids = [name for marker in item.iter_markers("clause") for name in marker.args]
    return list(dict.fromkeys(ids))


def select(items: list[pytest.Item], options: Options) -> list[pytest.Item]:
    """Return the tests of the requested suites and clauses; all by default."""
    if options.suites:
        items = [item for item in items if suite_of(item) in options.suites]
    if options.only_clauses:
        wanted = options.only_clauses
        items = [item for item in items if wanted.intersection(clauses_of(item))]
    return items


def refuse_unnamed(items: Iterable[pytest.Item]) -> None:
    """Fail the collection if a test of a suite names no clause, or one that is not."""
    faults = [fault for item in items if (fault := _fault(item))]
    if faults:
        raise pytest.UsageError("\n".join(faults))


def _fault(item: pytest.Item) -> str | None:
    named = clauses_of(item)
    unknown = [name for name in named if name not in all_clauses()]
    if unknown:
        return f"{item.nodeid}: there is no clause {', '.join(map(str, unknown))}"
    if suite_of(item) and not named:
        return f"{item.nodeid}: a test of a suite names its clause with a marker"
    return None


def decide_before(item: pytest.Item, target: Target, options: Options) -> None:
    """End *item* here if it gets no verdict in any case."""
    _decide_from_description(item, target, options)
    respect_settings(item, target)


def _decide_from_description(
    item: pytest.Item, target: Target, options: Options
) -> None:
    """End *item* here if the description of *target* is enough to decide it."""
    beyond = options.beyond_range
    releases = [target.release, target.stated_release]
    if not applicable(clauses_of(item), releases, beyond=beyond):
        relation = "about" if beyond else "not about"
        stated = target.stated_release or target.release
        not_applicable(f"its clauses are {relation} {stated}")
    may_write = Capability.WIRE in target.capabilities and not reads_only(item)
    if options.read_only and may_write:
        unsupported("it writes, and this run is --read-only")
    need(target, *_needs(item, may_configure=options.may_configure))


def reads_only(item: pytest.Item) -> bool:
    """Return whether *item* writes nothing to any target."""
    return item.get_closest_marker("read_only") is not None


def applicable(
    clauses: Iterable[str], releases: Iterable[str], *, beyond: bool = False
) -> list[str]:
    """Return those of *clauses* that are about all *releases*, or the *beyond* ones.

    A peer of 5.3.1 is tested as 5.3.3, the nearest studied release, but not by clauses
    about releases from 5.3.2 on. An empty release is not considered.
    """
    stated = list(filter(None, releases))

    def is_about(name: str) -> bool:
        return all(all_clauses()[name].applies_to(release) for release in stated)

    return [name for name in clauses if is_about(name) != beyond]


def _needs(item: pytest.Item, *, may_configure: bool) -> list[Capability]:
    named = [name for marker in item.iter_markers("needs") for name in marker.args]
    if may_configure and "restores" in item.keywords:
        named = [name for name in named if name != Capability.CONFIG]
    needed = [Capability(name) for name in named]
    fixtures = set(getattr(item, "fixturenames", ()))
    if fixtures & WIRE_FIXTURES and suite_of(item) in BROKER_SUITES:
        needed.append(Capability.WIRE)
    if suite_of(item) in SUITES and suite_of(item) not in BROKER_SUITES:
        needed.append(Capability.CLIENT)
    if fixtures & OWN_TARGET_FIXTURES:
        needed.append(Capability.RESTART)
    return list(dict.fromkeys(needed))


def order_items(
    items: list[pytest.Item], options: Options, target: Target | None
) -> list[pytest.Item]:
    """Return *items* in the order in which they are to run.

    Files marked `long` run first, where *target* allows them: a file that waits is not
    to be the second one of a worker. Tests marked `patient` run last: they check
    observations that started with the run. Behind them are only tests marked `heavy`:
    they load the target so much that others may wait for its responses. ``--shuffle``
    orders the rest by a seed, which shows that tests are independent.
    *target* is None where it is not known before the first test.
    """
    if options.shuffle is None:
        return sorted(items, key=lambda item: _stage(item, options, target))
    shuffled = list(items)
    # The same order in each worker, and no secret.
    random.Random(options.shuffle).shuffle(shuffled)  # noqa: S311
    return sorted(shuffled, key=lambda item: max(_stage(item, options, target), 1))


def _stage(item: pytest.Item, options: Options, target: Target | None) -> int:
    stages = {"heavy": 3, "patient": 2, "long": 0}
    stage = next((n for mark, n in stages.items() if mark in item.keywords), 1)
    waits = stage or target is None or _gets_a_verdict(item, target, options)
    return stage if waits else 1


def _gets_a_verdict(item: pytest.Item, target: Target, options: Options) -> bool:
    try:
        _decide_from_description(item, target, options)
    except pytest.skip.Exception:
        return False
    return True
