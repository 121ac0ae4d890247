"""Observations in the background of a run with several workers, one of which dies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Lock, Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.harness.blocked.guard import Break, Guard
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.peer import Peer
from conformance.harness.process.workspace import try_lock
from conformance.harness.pytest_plugin import background
from conformance.harness.pytest_plugin.background import (
    LOCK,
    Background,
    ObservationError,
)
from conformance.harness.targets.shared_target import TargetOwner
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def worker(directory: Path, name: str) -> pytest.Config:
    """Return the part of the configuration of a worker that observations use."""
    made = SimpleNamespace(
        workerinput={"workerid": name, "workercount": 2},
        option=SimpleNamespace(basetemp=str(directory / name)),
    )
    return cast(pytest.Config, made)


def until_set(_config: pytest.Config, ending: Event) -> object:
    """Observe until the end of the run."""
    ending.wait()
    return "seen"


def test_a_waiting_worker_observes_in_the_place_of_a_dead_one(tmp_path: Path) -> None:
    dead = try_lock(tmp_path / f"death{LOCK}")
    assert dead is not None
    waiting = Background(worker(tmp_path, "gw1"), "death", lambda *_: "seen")
    dead.close()  # as the system does for a killed worker
    assert waiting.result() == "seen"
    replacement = Background(worker(tmp_path, "gw2"), "death", until_set)
    assert replacement.result() == "seen"
    for one in (waiting, replacement):
        one.close(interrupted=True)


def test_frames_of_an_observation_are_not_those_of_the_running_test(
    tmp_path: Path,
) -> None:
    """A request that the observation lacks would explain a failure of the test."""
    lacking = partial(honest, code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
    with LyingServer(lacking) as server:

        def observe(*_: object) -> int:
            with Peer(server.address) as peer:
                peer.request(Command(code=RequestCode.BROKER_HEARTBEAT))
            return len(CONVERSATIONS.transcripts())

        CONVERSATIONS.begin()
        one = Background(worker(tmp_path, "gw0"), "lacking", observe)
        assert one.result() == 1
        assert CONVERSATIONS.transcripts() == []
        one.close(interrupted=True)


def test_a_result_that_cannot_be_sent_to_other_workers_is_an_error_of_ours(
    tmp_path: Path,
) -> None:
    one = Background(worker(tmp_path, "gw0"), "lock", lambda *_: Lock())
    with pytest.raises(ObservationError, match="TypeError: cannot pickle"):
        one.result()
    one.close(interrupted=True)


def test_a_late_result_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "PATIENCE_S", 0.3)
    one, other = (
        Background(worker(tmp_path, name), "late", until_set) for name in ("gw0", "gw1")
    )
    with pytest.raises(ObservationError, match="no result after"):
        other.result()
    one.close(interrupted=True)
    assert other.result() == "seen"


def in_threads(count: int, call: Callable[[int], Any]) -> list[Any]:
    """Return the results of *count* calls that begin at the same time."""
    barrier, found = Barrier(count), dict[int, Any]()

    def run(number: int) -> None:
        barrier.wait()
        found[number] = call(number)

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return [found[number] for number in range(count)]


def test_workers_agree_on_the_first_break(tmp_path: Path) -> None:
    owner = TargetOwner("embedded:", profile=None)
    for turn in range(200):
        record = tmp_path / f"{turn}.json"

        def first_break(number: int, record: Path = record) -> Break:
            own = Break(test=f"test {number}", problem="it ended")
            return Guard(owner, record=record)._first_break(own)

        found = in_threads(2, first_break)
        assert found[0] == found[1], f"turn {turn}"
