"""Peers that do not read or do not finish a frame cost a bounded amount of memory."""

from __future__ import annotations

import json

import pytest

from bench.longrun import peers


def test_a_client_is_served_beside_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "DURATION_S", 1)
    assert peers.main(["40"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["failure"] is None
    assert found["exchanges"] > 10
    assert found["own_memory_max"] < peers.MEMORY_MAX


def test_memory_above_the_limit_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "DURATION_S", 1)
    monkeypatch.setattr(peers, "MEMORY_MAX", 1)
    assert peers.main(["2"]) == 1
    assert json.loads(capsys.readouterr().out)["failure"] is None
