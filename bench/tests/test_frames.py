"""Wrong frames come in batches that a connection can take, and a run of them passes."""

from __future__ import annotations

import json
import socket

import pytest

from bench.longrun import frames
from bench.longrun.frames import (
    Figures,
    Mutator,
    NameServerFailedError,
    Run,
    main,
    recorded_frames,
)
from conformance.harness.targets.started.embedded import EmbeddedTarget
from spec.layout import LayoutError
from spec.wire.remoting.command import decode_command
from spec.wire.remoting.request_code import RequestCode


def is_readable(frame: bytes) -> bool:
    try:
        decode_command(frame)
    except LayoutError:
        return False
    return True


def test_every_frame_is_changed_and_the_same_seed_gives_the_same() -> None:
    recorded = recorded_frames()
    one, other = (Mutator(recorded, 7) for _ in range(2))
    made = [one.frame() for _ in range(300)]
    assert made == [other.frame() for _ in range(300)]
    assert len(set(made)) > 290


def test_only_the_last_frame_of_a_batch_breaks_the_connection() -> None:
    mutator = Mutator(recorded_frames(), 7)
    sizes = set()
    for _ in range(200):
        batch, readable = mutator.batch()
        assert [is_readable(frame) for frame in batch[:-1]] == [True] * (len(batch) - 1)
        assert readable == len(batch) - (not is_readable(batch[-1]))
        sizes.add(len(batch))
    assert len(sizes) > 3


def test_what_is_kept_for_ever_is_sent_a_few_times_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "KEPT_MAX", 3)
    recorded = recorded_frames()
    puts = [f for f in recorded if decode_command(f).code == RequestCode.PUT_KV_CONFIG]
    mutator = Mutator(puts, 7)
    batches = [mutator.batch()[0] for _ in range(100)]
    codes = [frames._code(frame) for batch in batches for frame in batch]
    assert codes.count(RequestCode.PUT_KV_CONFIG) == 3


def test_memory_may_grow_while_a_run_warms_up_only() -> None:
    assert Figures(memory=[10, 20, 50, 50, 50, 50, 50, 50, 50, 51]).growth() == 1
    assert Figures().growth() == 0


def test_a_connection_that_stays_open_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "DEADLINE_S", 0.05)
    ours, theirs = socket.socketpair()
    with theirs, pytest.raises(NameServerFailedError, match="still open"):
        frames._await_close(ours)


def test_a_short_run_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["500"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["frames"] >= 500
    assert report["routes_asked_meanwhile"] > 0
    assert report["failure"] is None


def test_a_run_that_is_interrupted_tells_what_it_saw(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(run: Run) -> None:
        if run.figures.connections > 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(Run, "_check_route", look)
    assert main(["100000"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["failure"] == "interrupted"
    assert report["frames"] > 30


def test_a_name_server_that_runs_already_can_be_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with EmbeddedTarget("embedded:") as target:
        assert main(["100", "--at", str(target.namesrv)]) == 0
    assert json.loads(capsys.readouterr().out)["memory_mib"] == []


def test_a_name_server_that_is_gone_is_a_failure() -> None:
    with EmbeddedTarget("embedded:") as target:
        assert target.namesrv is not None
        run = Run(target.namesrv, None)
        target.kill()
        with pytest.raises(NameServerFailedError, match="no connection any more"):
            run.send(Mutator(recorded_frames(), 7), 100)
        run.close()
