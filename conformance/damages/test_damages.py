"""
Damages have the described effect, and each wrong prediction is detected by its field.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from conformance.damages.damages import DAMAGES
from conformance.damages.predictions import differences
from conformance.damages.recorded_stores import (
    damaged_copy,
    recorded_outcomes,
    recorded_releases,
    tree_of,
)
from spec.store.file_names import ABORT

UNTOUCHED = ("nothing",)
RELEASES = recorded_releases()


@pytest.mark.parametrize("release", RELEASES)
def test_each_damage_changes_the_store_and_always_the_same(
    tmp_path: Path, release: str
) -> None:
    whole = tree_of(damaged_copy(release, DAMAGES["nothing"], tmp_path / "whole"))
    for name, damage in DAMAGES.items():
        first, second = (
            tree_of(damaged_copy(release, damage, tmp_path / f"{name}{number}"))
            for number in range(2)
        )
        assert first == second, name
        assert (first != whole) == (name not in UNTOUCHED), name
        assert (ABORT in first) == damage.after_crash, name


@pytest.mark.parametrize("release", RELEASES)
def test_every_damage_was_tried_on_a_real_broker(release: str) -> None:
    assert list(recorded_outcomes(release)) == list(DAMAGES)


def test_an_outcome_is_no_difference_from_itself() -> None:
    for release in RELEASES:
        for outcome in recorded_outcomes(release).values():
            assert differences(outcome, outcome) == []


WRONG: dict[str, Any] = {
    "log.end": "12",
    "log.deleted_files": ["commitlog/00000000000000000000"],
    "queues.DamageOrders.0.max": "28",
    "messages.lost": [{"topic": "DamageBills", "queue": 0, "from": "3", "to": "4"}],
    "offsets": [
        {"group": "g", "topic": "t", "queue": 0, "offset": "9", "min": "0", "max": "1"}
    ],
    "index.files": 7,
    "after": "crash",
}


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_prediction_is_told_by_its_field(field: str) -> None:
    found = recorded_outcomes("4.6.0")["nothing"]
    predicted: Any = copy.deepcopy(found)
    *places, last = field.split(".")
    table = predicted
    for place in places:
        table = table[place]
    table[last] = WRONG[field]
    lines = differences(predicted, found)
    assert [line.partition(":")[0] for line in lines] == [field]
    assert differences(predicted, found, unsettled=[field]) == []


def test_a_start_that_was_not_foreseen_is_told() -> None:
    outcomes = recorded_outcomes("4.6.0")
    refused, served = outcomes["middle_file_empty"], outcomes["nothing"]
    assert differences(served, refused)[0] == "starts: predicted True, found False"
    assert differences(refused, served)[0] == "starts: predicted False, found True"
