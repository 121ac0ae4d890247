"""Changing a running broker's settings for the length of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.known_settings import need_reported


@contextmanager
def changed(broker: Client, **settings: str) -> Iterator[None]:
    """Give a broker these settings, and those that it had before afterwards.

    The running test is unsupported if the broker does not report them: the suite could
    not put them back.
    """
    before = broker.broker_settings()
    need_reported(settings, before)
    require_success(broker.update_broker_config(settings))
    try:
        yield
    finally:
        old = {name: before[name] for name in settings}
        require_success(broker.update_broker_config(old))
