"""
Settings of a broker that the suite does not configure, read with GET_BROKER_CONFIG.

A test that relies on a setting has no verdict where the broker has another value.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.access import Access
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, RefusedError
from conformance.harness.client.peer import PeerError
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.targets.target import Capability, Target
from spec.layout import LayoutError

UNKNOWN = "unknown"


def need_settings(target: Target, wanted: Mapping[str, str]) -> None:
    """Make the running test unsupported unless *target*'s broker has all settings."""
    need(target, Capability.WIRE)
    _end_if_others(target, wanted, dict.fromkeys(wanted, UNKNOWN))


def respect_settings(item: pytest.Item, target: Target) -> None:
    """Make *item* unsupported if *target*'s broker contradicts its marker `settings`.

    Settings that the broker does not report are taken as the marker states them.
    """
    wanted: dict[str, str] = {}
    for marker in item.iter_markers("settings"):
        wanted |= marker.kwargs
    if wanted and target.is_foreign and Capability.CONFIG not in target.capabilities:
        _end_if_others(target, wanted, wanted)


def _end_if_others(
    target: Target, wanted: Mapping[str, str], defaults: Mapping[str, str]
) -> None:
    address = target.admin or target.broker
    settings = {**defaults, **(_settings(address, target.access) if address else {})}
    others = [
        f"{name}={value} ({settings[name]} there)"
        for name, value in wanted.items()
        if settings[name] != value
    ]
    if others:
        unsupported(f"it needs the settings {', '.join(others)}")


@cache
def _settings(address: Address, access: Access) -> Mapping[str, str]:
    """Return the settings of the broker at *address*; none if it does not report."""
    try:
        with Client.connect(address, access=access) as client:
            return client.broker_settings()
    except (PeerError, RefusedError, LayoutError, ValueError):
        return {}
