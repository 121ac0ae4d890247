"""Some megabytes pass through the reference, and it does not need them for itself."""

from __future__ import annotations

import json

import pytest

from bench.longrun.memory import A_LITTLE, Memory, Passage, main


def test_what_has_passed_is_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["0.03", "--body-size", "65536"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["messages"] == report["pulled"] == 457
    assert report["is_flat"]


@pytest.mark.parametrize(
    ("growth", "pulled", "is_flat"),
    [(A_LITTLE, 9, True), (A_LITTLE + 1, 9, False), (0, 8, False)],
)
def test_growth_and_losses_are_told(growth: int, pulled: int, is_flat: bool) -> None:
    steps = Memory(5, 5), Memory(10, 20), Memory(9, 9), Memory(10, 20 + growth)
    passage = Passage(messages=9, pulled=pulled, bytes=900, duration_s=1.0, steps=steps)
    assert passage.halves == (30, 30 + growth)
    assert passage.is_flat is is_flat
