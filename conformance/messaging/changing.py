"""Changing a running broker's settings for the length of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.harness.speaker import Speaker, succeeded


@contextmanager
def changed(broker: Speaker, **settings: str) -> Iterator[None]:
    """Give a broker these settings, and those that it had before afterwards."""
    before = broker.broker_settings()
    succeeded(broker.update_broker_config(settings))
    try:
        yield
    finally:
        old = {name: before[name] for name in settings}
        succeeded(broker.update_broker_config(old))
