"""Changing a running broker's settings for the length of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.harness.client.client import Client, require_success


@contextmanager
def changed(broker: Client, **settings: str) -> Iterator[None]:
    """Give a broker these settings, and those that it had before afterwards."""
    before = broker.broker_settings()
    require_success(broker.update_broker_config(settings))
    try:
        yield
    finally:
        old = {name: before[name] for name in settings}
        require_success(broker.update_broker_config(old))
