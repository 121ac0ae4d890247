"""The targets that a worker keeps, such as those with TLS settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from conformance.harness.pytest_plugin.kept import IDLE_S, LIMIT, Kept


def test_the_targets_used_longest_ago_end() -> None:
    events: list[str] = []

    @contextmanager
    def started(name: str) -> Iterator[str]:
        events.append(f"start {name}")
        yield name
        events.append(f"end {name}")

    kept = Kept()
    assert LIMIT == 2
    for name in ("a", "b", "a", "c", "a", "b"):
        assert kept.get(name, partial(started, name)) == name
    assert events == ["start a", "start b", "end b", "start c", "end c", "start b"]
    kept.close()
    assert events[6:] == ["end a", "end b"]


def test_a_target_that_does_not_start_is_started_once() -> None:
    starts = []

    @contextmanager
    def broken() -> Iterator[str]:
        starts.append(1)
        raise OSError("no broker")
        yield ""

    kept = Kept()
    for _ in range(3):
        with pytest.raises(OSError, match="no broker"):
            kept.get("a", broken)
    assert len(starts) == 1
    kept.close()


def test_the_end_of_a_value_that_fails_is_not_charged_to_another() -> None:
    ended: list[str] = []

    @contextmanager
    def started(name: str) -> Iterator[str]:
        yield name
        ended.append(name)
        if name.startswith("bad"):
            raise OSError(name)

    kept = Kept()
    for name in ("bad 1", "bad 2"):
        kept.get(name, partial(started, name))
    with pytest.raises(OSError, match="bad 1"):
        kept.get("good", partial(started, "good"))
    assert kept.get("good", partial(started, "good")) == "good"
    with pytest.raises(OSError, match="bad 2"):
        kept.close()
    assert ended == ["bad 1", "bad 2", "good"]


def test_a_value_that_no_file_uses_any_more_ends() -> None:
    ended: list[str] = []
    kept = Kept()

    @contextmanager
    def started(name: str) -> Iterator[str]:
        yield name
        ended.append(name)

    for name in ("used", "idle"):
        kept.get(name, partial(started, name))
    kept.end_file(now_s=0.0)
    kept.get("used", partial(started, "used"))
    kept.end_file(now_s=IDLE_S + 1)
    assert ended == ["idle"]
    kept.end_file(now_s=2 * IDLE_S + 3)
    assert ended == ["idle", "used"]


def test_an_idle_value_ends_within_the_next_file() -> None:
    ended: list[str] = []
    kept = Kept()

    @contextmanager
    def started(name: str) -> Iterator[str]:
        yield name
        ended.append(name)

    kept.get("before", partial(started, "before"))
    kept.end_file(now_s=0.0)
    kept.get("now", partial(started, "now"))
    kept.end_idle(now_s=IDLE_S)
    assert ended == []
    kept.end_idle(now_s=IDLE_S + 1)
    assert ended == ["before"]
    kept.close()
