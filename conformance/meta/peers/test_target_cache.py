"""The targets that a worker keeps, such as those with TLS settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from conformance.harness.pytest_plugin.target_cache import IDLE_S, LIMIT, TargetCache


@contextmanager
def started(name: str, ended: list[str]) -> Iterator[str]:
    """Yield a value, and add its *name* to *ended* at its end."""
    yield name
    ended.append(name)


def test_the_targets_used_longest_ago_end() -> None:
    events: list[str] = []

    @contextmanager
    def recorded(name: str) -> Iterator[str]:
        events.append(f"start {name}")
        yield name
        events.append(f"end {name}")

    target_cache = TargetCache()
    assert LIMIT == 2
    for name in ("a", "b", "a", "c", "a", "b"):
        assert target_cache.get(name, partial(recorded, name)) == name
    assert events == ["start a", "start b", "end b", "start c", "end c", "start b"]
    target_cache.close()
    assert events[6:] == ["end a", "end b"]


def test_a_target_that_does_not_start_is_started_once() -> None:
    starts = []

    @contextmanager
    def broken() -> Iterator[str]:
        starts.append(1)
        raise OSError("no broker")
        yield ""

    target_cache = TargetCache()
    for _ in range(3):
        with pytest.raises(OSError, match="no broker"):
            target_cache.get("a", broken)
    assert len(starts) == 1
    target_cache.close()


def test_the_end_of_a_value_that_fails_is_not_charged_to_another() -> None:
    ended: list[str] = []

    @contextmanager
    def failing(name: str) -> Iterator[str]:
        with started(name, ended):
            yield name
        raise OSError(name)

    target_cache = TargetCache()
    for name in ("bad 1", "bad 2"):
        target_cache.get(name, partial(failing, name))
    with pytest.raises(OSError, match="bad 1"):
        target_cache.get("good", partial(started, "good", ended))
    assert target_cache.get("good", partial(started, "good", ended)) == "good"
    with pytest.raises(OSError, match="bad 2"):
        target_cache.close()
    assert ended == ["bad 1", "bad 2", "good"]


def test_a_value_that_no_file_uses_any_more_ends() -> None:
    ended: list[str] = []
    target_cache = TargetCache()
    for name in ("used", "idle"):
        target_cache.get(name, partial(started, name, ended))
    target_cache.end_file(now_s=0.0)
    target_cache.get("used", partial(started, "used", ended))
    target_cache.end_file(now_s=IDLE_S + 1)
    assert ended == ["idle"]
    target_cache.end_file(now_s=2 * IDLE_S + 3)
    assert ended == ["idle", "used"]


def test_an_idle_value_ends_within_the_next_file() -> None:
    ended: list[str] = []
    target_cache = TargetCache()
    target_cache.get("before", partial(started, "before", ended))
    target_cache.end_file(now_s=0.0)
    target_cache.get("now", partial(started, "now", ended))
    target_cache.end_idle(now_s=IDLE_S)
    assert ended == []
    target_cache.end_idle(now_s=IDLE_S + 1)
    assert ended == ["before"]
    target_cache.close()
