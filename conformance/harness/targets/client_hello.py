"""Errors of a hello, by which an adapter describes itself and its client."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from conformance.harness.releases import STUDIED
from spec.clause import release_key
from spec.layout import LayoutError
from spec.wire.remoting.language import LanguageCode, language_code

FEATURES = frozenset(
    {
        "sync",
        "async",
        "oneway",
        "batch",
        "select",
        "transaction",
        "request",
        "reply",
        "lanes",
        "latency",
        "vip",
        "push",
        "orderly",
        "broadcast",
        "pull",
        "lite",
        "queues",
        "acl",
        "tls",
        "pop",
    }
)
OPTION_INTERVALS = frozenset({"heartbeat_ms", "route_poll_ms", "persist_ms"})
"""Intervals that are options too. A client that announces one has no such option."""
INTERVALS = OPTION_INTERVALS | {"rebalance_ms", "lock_ms", "lock_lives_ms"}


def hello_error(hello: object) -> str:
    """Return in one line the error of a hello's result; empty for a valid one."""
    if not isinstance(hello, dict):
        return f"the result of its hello is not an object: {hello!r}"
    if "release" not in hello:
        return "its hello lacks 'release'"
    checks = (_release_error, _language_error, _feature_error, _interval_error)
    return next(filter(None, [check(hello) for check in checks]), "")


def _release_error(hello: Mapping[str, Any]) -> str:
    release = hello["release"]
    try:
        major = release_key(str(release))[0]
    except ValueError as error:
        return f"the release in its hello: {error}"
    if major in {release_key(one)[0] for one in STUDIED}:
        return ""
    return f"the release in its hello, {release!r}, is not one of Apache RocketMQ"


def _language_error(hello: Mapping[str, Any]) -> str:
    language = hello.get("language", LanguageCode.OTHER.name)
    try:
        language_code(str(language))
    except LayoutError:
        near = get_close_matches(str(language), LanguageCode.__members__, cutoff=0.5)
        return _unknown("language", language, near)
    return ""


def _feature_error(hello: Mapping[str, Any]) -> str:
    features = hello.get("features", [])
    if not isinstance(features, list):
        return f"the features in its hello are not a list: {features!r}"
    for one in features:
        if one not in FEATURES:
            return _unknown("feature", one, get_close_matches(str(one), FEATURES))
    return ""


def _interval_error(hello: Mapping[str, Any]) -> str:
    intervals = hello.get("intervals", {})
    if not isinstance(intervals, dict):
        return f"the intervals in its hello are not an object: {intervals!r}"
    for name, value in intervals.items():
        if name not in INTERVALS:
            return _unknown("interval", name, get_close_matches(name, INTERVALS))
        if type(value) not in (int, float) or value < 0:
            return f"{name} in its hello is not a number of milliseconds: {value!r}"
    return ""


def _unknown(kind: str, value: object, near: list[str]) -> str:
    advice = f"; did you mean {near[0]}?" if near else ""
    return f"unknown {kind} in its hello: {value!r}{advice}"
