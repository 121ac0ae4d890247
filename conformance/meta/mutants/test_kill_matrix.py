"""The kill matrix shows what was recorded of the mutants that there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.harness.report.outcome import Outcome
from conformance.mutants.conftest import LOOKS, looked_again
from conformance.mutants.kill_page import issue_link, package_of, page, verdict
from conformance.mutants.kill_record import (
    Row,
    keep,
    keep_each,
    recorded,
    row_of,
    without_kill,
)
from conformance.mutants.matrix import Kill
from conformance.mutants.mutant import Mutant, all_mutants
from conformance.mutants.texts import golden_names

AGAIN = "rmqc report mutants -o docs/mutants.md runs them"
FAULT = Mutant(
    id="crc_shifted",
    description="it is wrong | and odd",
    file="spec/store/x.py",
    find="a",
    replace="b",
    caught_by=("WIRE-FRAME-001", "WIRE-FRAME-002"),
    issues=("apache/rocketmq#9121",),
)
BOTH = dict.fromkeys(FAULT.caught_by, Outcome.FAIL)
KILL = Kill(mutant=FAULT, outcomes=BOTH, output="", duration_s=1.23)
ROW = row_of(KILL)
SURVIVOR = row_of(replace(KILL, outcomes={**BOTH, "WIRE-FRAME-002": Outcome.PASS}))


def test_every_mutant_is_recorded_as_killed() -> None:
    assert list(without_kill(all_mutants(), recorded())) == [], AGAIN
    assert recorded().keys() <= all_mutants().keys(), AGAIN


def test_the_page_shows_every_mutant_of_the_catalogue() -> None:
    text = page(all_mutants(), recorded())
    for name, fault in all_mutants().items():
        row = f"| [{name}](../conformance/mutants/{name}.toml) |"
        assert row in text
        assert f"| {', '.join(fault.caught_by)} |" in text
    alive = without_kill(all_mutants(), recorded())
    for name in set(golden_names()) - alive.keys():
        assert f"(../fixtures/failures/mutants/{name}.txt)" in text


@pytest.mark.parametrize(
    ("edit", "stays"),
    [
        ({"description": "it is wrong in other words"}, True),
        ({"issues": ()}, True),
        ({"replace": "c"}, False),
        ({"file": "spec/store/y.py"}, False),
        ({"caught_by": FAULT.caught_by[:1]}, False),
    ],
)
def test_a_row_is_stale_when_the_fault_is_another(
    edit: dict[str, object], stays: bool
) -> None:
    edited = replace(FAULT, **edit)  # type: ignore[arg-type] # by name
    assert ROW.kills(edited) is stays
    faults, rows = {edited.id: edited}, {ROW.name: ROW}
    assert without_kill(faults, rows) == ({} if stays else faults)
    assert ("**edited since**" in page(faults, rows)) is not stays


def test_a_survivor_is_named_with_the_clause_that_slept() -> None:
    text = page({FAULT.id: FAULT}, {FAULT.id: SURVIVOR})
    assert "0 % are killed; not shown to be: `crc_shifted`." in text
    assert "**survives** (WIRE-FRAME-002: pass)" in text
    assert without_kill({FAULT.id: FAULT}, {FAULT.id: SURVIVOR}) == {FAULT.id: FAULT}


def test_a_clause_that_no_test_asked_for_has_not_noticed() -> None:
    row = row_of(replace(KILL, outcomes={"WIRE-FRAME-001": Outcome.FAIL}))
    assert row.missed == ("WIRE-FRAME-002",)
    assert "WIRE-FRAME-002: not run" in verdict(FAULT, row)


def test_a_mutant_without_a_row_is_shown_as_such() -> None:
    assert "| **not run** |" in page({FAULT.id: FAULT}, {})


def test_a_killed_mutant_has_its_text_its_issues_and_its_place_in_the_counts() -> None:
    text = page({FAULT.id: FAULT}, {FAULT.id: ROW})
    assert "1 mutants, 1 of them after reports" in text
    assert "100 % are killed" in text
    assert "| [spec/store](#specstore) | 1 | 1 | 1 | 2 |" in text
    assert "it is wrong \\| and odd" in text
    assert "| killed | [apache" in text
    assert issue_link(*FAULT.issues) in text
    assert "https://github.com/apache/rocketmq/issues/9121" in text


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("spec/wire/remoting/frame.py", "spec/wire"),
        ("spec/store/timer/log.py", "spec/store"),
        ("reference/core/broker/send/send_message.py", "reference/core/broker"),
        ("reference/shell/remoting_host.py", "reference/shell"),
    ],
)
def test_a_mutant_is_counted_where_its_file_is(file: str, package: str) -> None:
    assert package_of(file) == package


def test_rows_are_kept_one_by_one_and_those_of_no_mutant_go(tmp_path: Path) -> None:
    file = tmp_path / "mutants" / "kills.json"
    keep(replace(ROW, name="there_is_none"), file)
    keep(SURVIVOR, file)
    keep(ROW, file)
    assert recorded(file) == {ROW.name: ROW}
    assert Row.from_json(dict(ROW.as_json())) == ROW


def test_what_showed_nothing_is_not_recorded(tmp_path: Path) -> None:
    names = list(all_mutants())[:3]
    unseen = dict.fromkeys(FAULT.caught_by, Outcome.UNSUPPORTED)
    missed = {**BOTH, "WIRE-FRAME-002": Outcome.PASS}
    kills = [
        replace(KILL, mutant=replace(FAULT, id=name), outcomes=outcomes)
        for name, outcomes in zip(names, ({}, unseen, missed), strict=True)
    ]
    file = tmp_path / "kills.json"
    lines = list(keep_each(kills, file, count=3))
    assert list(recorded(file)) == names[2:]
    for line, expected in zip(
        lines, ("next run", "a machine", "NOT DETECTED"), strict=True
    ):
        assert expected in line
    assert lines[2].startswith("3 of 3: ")


def test_another_text_than_the_golden_one_is_reported(tmp_path: Path) -> None:
    fault = replace(FAULT, id=golden_names()[0])
    kill = replace(KILL, mutant=fault, texts={"WIRE-FRAME-001": "another text"})
    (line,) = keep_each([kill], tmp_path / "kills.json", count=1)
    assert line.endswith("ITS TEXT DIFFERS")


def test_a_test_that_had_to_look_again_is_named() -> None:
    expected = {"test_a": [(LOOKS, 1)], "test_b": [(LOOKS, 3)], "test_c": []}
    reports: list[object] = [
        pytest.TestReport(
            nodeid=name,
            location=("x.py", 1, name),
            keywords={},
            outcome="passed",
            longrepr=None,
            when="call",
            user_properties=properties,
        )
        for name, properties in expected.items()
    ]
    assert list(looked_again({"passed": reports})) == ["looked 3 times: test_b"]
