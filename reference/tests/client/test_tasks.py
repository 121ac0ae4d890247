"""Tasks that a client leaves behind at its end."""

from __future__ import annotations

import gc
import sys

import pytest

from reference.core.client.remoting.tasks import Task, Wait, start


async def outer(inner: Task[None]) -> None:
    await inner


async def inner() -> None:
    await Wait[None]()


def test_a_task_that_still_waits_is_collected_without_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ignored: list[object] = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda one: ignored.append(one.exc_value)
    )
    innermost = inner()  # objects that were made first are collected first
    middle = outer(innermost)
    start(outer(middle))
    del innermost, middle
    gc.collect()
    assert ignored == []
