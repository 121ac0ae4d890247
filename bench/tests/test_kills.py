"""A run of kills finds no fault in the reference, and reports seeded faults."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench.longrun.kills import SETTINGS, Run, main
from conformance.harness.targets.target import parse_target


def test_two_kills_cost_the_reference_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["2", "--alone", "--seed", "7"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["kills"] == 2
    assert report["acknowledged"] > 40
    assert (report["lost"], report["duplicates"], report["gaps"]) == (0, 0, 0)
    assert report["keys_queried"] == 40
    assert report["start_ms"]["max"] >= report["start_ms"]["median"] > 0


def test_what_is_not_there_is_told() -> None:
    with parse_target("embedded:", conf=SETTINGS) as target:
        run = Run(target, seed=7)
        run.prepare()
        done = run.kill()
        run.start()
        moved = replace(done[0], queue_offset=done[0].queue_offset + 1)
        stranger = replace(done[1], key="nobody")
        run.check([*done[2:], moved, stranger])
        assert run.figures.lost == [moved.key, "nobody"]
        run.check_all(done)
        assert not run.figures.twice
        run._ends = dict.fromkeys(run._ends, 0)
        run.check([])
        assert len(run.figures.twice) >= len(done)
