"""Topics of a target whose new topics have no route in time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from conformance.harness.pytest_plugin import fixtures
from conformance.harness.targets.target import Target
from spec.wire.remoting.command import Command


class OfNoRoute(Target):
    """Target whose name server is not reached."""

    @contextmanager
    def connect_to_namesrv(self) -> Iterator[None]:  # type: ignore[override]
        """Fail: a test waits for a route."""
        message = "a route is waited for"
        raise AssertionError(message)
        yield


@pytest.mark.parametrize("is_late", [True, False])
def test_only_a_route_that_may_come_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    monkeypatch.setattr(fixtures, "request_topic", lambda *_: Command(code=0, flag=1))
    target = OfNoRoute("none")
    target.has_late_routes = is_late
    if is_late:
        assert fixtures.create_topic(target, "t") == "t"
        return
    with pytest.raises(AssertionError, match="waited for"):
        fixtures.create_topic(target, "t")
