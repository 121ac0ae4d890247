"""Repetition of a test that ran when a target of several workers broke."""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

from conformance.harness.blocked.guard import Guard


def run_guarded(item: pytest.Item, nextitem: pytest.Item | None, guard: Guard) -> None:
    """Run *item* and log its reports.

    If the target broke meanwhile, another worker's test may be the reason. Then *item*
    runs again on the target of this worker, and only those reports count.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if guard.must_repeat:
        guard.must_repeat = False
        _forget_fixtures(item)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _forget_fixtures(item: pytest.Item) -> None:
    """Make *item* as it was before its first run."""
    if isinstance(item, pytest.Function):
        item._initrequest()
