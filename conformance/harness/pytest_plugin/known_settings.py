"""
Settings of servers that the suite does not configure, as they report them.

They are read with GET_BROKER_CONFIG and GET_NAMESRV_CONFIG. A test that relies on a
setting has no verdict where the server has another value. With --may-configure, some
fixtures change a broker's settings with UPDATE_BROKER_CONFIG, and put them back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TypeAlias

import pytest

from conformance.harness.blocked.preconditions import precondition
from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.access import Access
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.peer_errors import (
    ClosedError,
    NoResponseError,
    PeerError,
)
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import OPTIONS, need
from conformance.harness.targets.target import Capability, Target
from spec.layout import LayoutError

UNKNOWN = "unknown"
TRIES = 3
"""Requests without a response after which a server counts as one that reports none."""
_Read: TypeAlias = Callable[[Client], dict[str, str]]


def need_settings(target: Target, wanted: Mapping[str, str]) -> None:
    """Make the running test unsupported unless *target*'s broker has all settings."""
    need(target, Capability.WIRE)
    settings = _of_broker(target)
    _end_if_others(wanted, dict.fromkeys(wanted, UNKNOWN) | settings)


def need_message_size(target: Target, size: int) -> None:
    """Make the running test unsupported if *target*'s broker takes less than *size*.

    *size* is of whole records, in bytes. A limit that is not reported is the default.
    """
    name = "maxMessageSize"
    limit = _of_broker(target).get(name, "")
    if limit.isdecimal() and int(limit) < size:
        unsupported(f"it needs a {name} of at least {size} ({limit} there)")


def need_defaults(
    target: Target, defaults: Mapping[str, str], settings: Mapping[str, str]
) -> None:
    """Make the running test unsupported unless *settings* show a default.

    Only where the suite sets *target*'s settings, a value that is not in *defaults* is
    a fault of the target. Elsewhere an operator may have set it. A setting that the
    server does not report contradicts no default.
    """
    if Capability.CONFIG not in target.capabilities:
        _end_if_others(defaults, dict.fromkeys(defaults, UNKNOWN) | dict(settings))
    elif all(defaults[name] == settings.get(name, defaults[name]) for name in defaults):
        need_reported(defaults, settings)


def need_reported(names: Iterable[str], settings: Mapping[str, str]) -> None:
    """Make the running test unsupported unless *settings* contain all *names*."""
    missing = [name for name in names if name not in settings]
    if missing:
        unsupported(f"its server does not report the settings {', '.join(missing)}")


def fields_of_region(target: Target) -> dict[str, str]:
    """Return the fields of a response that are settings of *target*'s broker."""
    settings = _of_broker(target)
    return {
        "MSG_REGION": settings.get("regionId", "DefaultRegion"),
        "TRACE_ON": settings.get("traceOn", "true"),
    }


def expect_default(
    clause: str, broker: Client, target: Target, name: str, value: str
) -> None:
    """Check that *broker* reports the default *value*, or the one of *target*'s text.

    The running test is unsupported where an operator may have set another one.
    """
    settings = broker.broker_settings()
    need_defaults(target, {name: value}, settings)
    expect(
        clause,
        found=settings.get(name),
        expected=target.conf.get(name, value),
        what=name,
        transcript=broker.transcript,
    )


@contextmanager
def configured(target: Target, wanted: Mapping[str, str]) -> Iterator[None]:
    """Give *target*'s running broker other settings, and its own afterwards.

    The running test has no verdict where the broker does not take them.
    """
    with precondition():
        with target.connect_for_admin() as admin:
            before = admin.broker_settings()
        own = {name: before[name] for name in wanted if name in before}
        try:
            _update(target, wanted)
            need_settings(target, wanted)
            yield
        finally:
            _update(target, own)


@contextmanager
def changed(broker: Client, **settings: str) -> Iterator[None]:
    """Give a broker these settings, and those that it had before afterwards.

    The running test is unsupported if the broker does not report them: the suite could
    not put them back. Compare responses inside of the block. Behind it, the latest
    frames of *broker* are those that put the settings back.
    """
    before = broker.broker_settings()
    need_reported(settings, before)
    require_success(broker.update_broker_config(settings))
    try:
        yield
    finally:
        old = {name: before[name] for name in settings}
        require_success(broker.update_broker_config(old))


def _update(target: Target, settings: Mapping[str, str]) -> None:
    """Change settings of *target*'s broker over a fresh connection."""
    with target.connect_for_admin() as admin:
        require_success(admin.update_broker_config(settings))
    _reported.cache_clear()


def may_change_running(config: pytest.Config, target: Target) -> bool:
    """Return whether *target* runs already, and tests may change its settings."""
    may_configure = config.stash[OPTIONS].may_configure
    return may_configure and Capability.CONFIG not in target.capabilities


@contextmanager
def with_settings(
    config: pytest.Config, target: Target, wanted: Mapping[str, str]
) -> Iterator[None]:
    """Give *target*'s running broker settings, where the suite may change them.

    Elsewhere the broker needs to have them already, or the test is unsupported.
    """
    if config.stash[OPTIONS].may_configure or Capability.CONFIG in target.capabilities:
        with configured(target, wanted):
            yield
    else:
        need_settings(target, wanted)
        yield


def respect_settings(item: pytest.Item, target: Target) -> None:
    """Make *item* unsupported if a server contradicts its marker about settings.

    Settings that the server does not report are taken as the marker states them. A
    target that the suite configures has those of its own text.
    """
    wanted = _wanted(item, "settings")
    if not target.is_foreign or Capability.CONFIG in target.capabilities:
        _end_if_others(wanted, wanted | target.conf)
        return
    if wanted:
        settings = _of_broker(target)
        _end_if_others(wanted, wanted | settings)
    if wanted := _wanted(item, "namesrv_settings"):
        _end_if_others(wanted, wanted | _of_namesrv(target))


def _wanted(item: pytest.Item, name: str) -> dict[str, str]:
    """Return the settings of all markers *name* of *item*."""
    wanted: dict[str, str] = {}
    for marker in item.iter_markers(name):
        wanted |= marker.kwargs
    return wanted


def _end_if_others(wanted: Mapping[str, str], settings: Mapping[str, str]) -> None:
    others = [
        f"{name}={value} ({settings[name]} there)"
        for name, value in wanted.items()
        if settings[name] != value
    ]
    if others:
        unsupported(f"it needs the settings {', '.join(others)}")


def _of_broker(target: Target) -> dict[str, str]:
    """Return the settings of *target*'s broker; none if it does not report."""
    return _of(target.admin or target.broker, target.access, Client.broker_settings)


def _of_namesrv(target: Target) -> dict[str, str]:
    """Return the settings of the name server; none if it does not report."""
    return _of(target.namesrv, target.access, Client.namesrv_settings)


def _of(address: Address | None, access: Access, read: _Read) -> dict[str, str]:
    """Return the settings at *address*; none from a server that does not report."""
    if address is None:
        return {}
    try:
        return _reported(address, access, read)
    except PeerError:  # not cached: the next test connects again
        return {}


@cache
def _reported(address: Address, access: Access, read: _Read) -> dict[str, str]:
    """Return the settings that a server reports; none if it does not in TRIES tries.

    A server that refuses the request has not refused one of the running test. Raises
    PeerError where it accepts no connection.
    """
    for _ in range(TRIES):
        try:
            with (
                CONVERSATIONS.apart(),
                Client.connect(address, access=access) as client,
            ):
                return read(client)
        except (NoResponseError, ClosedError):
            continue
        except (AssertionError, LayoutError, ValueError):
            break
    return {}
