"""The targets with TLS that a run keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from conformance.tls import tls_servers
from conformance.tls.tls_servers import KEPT, Servers


def test_the_targets_used_longest_ago_end(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    @contextmanager
    def serving(_: object, settings: Mapping[str, str]) -> Iterator[str]:
        events.append(f"start {settings['name']}")
        yield settings["name"]
        events.append(f"end {settings['name']}")

    monkeypatch.setattr(tls_servers, "serving", serving)
    config: Any = None
    servers = Servers(config)
    assert KEPT == 2
    for name in ("a", "b", "a", "c", "a", "b"):
        assert str(servers.with_settings({"name": name})) == name
    assert events == ["start a", "start b", "end b", "start c", "end c", "start b"]
    servers.close()
    assert events[6:] == ["end a", "end b"]
