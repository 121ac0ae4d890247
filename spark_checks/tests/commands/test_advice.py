"""
Each kind of finding has advice.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from cli.pages.audit.advice import RESTORED, TEXTS, next_steps
from cli.pages.audit.groups import groups_of
from cli.pages.audit.start_forecast import StartForecast
from spark_checks.findings import EXPLAINED, INVARIANTS, Invariant, Severity
from spark_checks.tests.commands.advised import (
    DAMAGED,
    HARMLESS,
    HIDDEN,
    ITEM,
    LOSSES,
    REBUILT,
    UNIT,
    advice,
    finding,
    listing,
)


@pytest.mark.parametrize("invariant", INVARIANTS.values(), ids=lambda one: one.id)
def test_every_finding_has_a_sentence(invariant: Invariant) -> None:
    output = invariant.advice
    assert output[0].isupper()
    assert output.endswith(".")
    assert output.count(". ") <= 1


def test_steps_are_one_a_kind_and_the_gravest_comes_first() -> None:
    warning = finding("INV-CONFIG-002", Severity.WARNING)
    found = next_steps(advice(warning, ITEM, replace(ITEM, more=4), warning))
    assert [(s["invariant"], s["severity"], s["count"]) for s in found] == [
        ("INV-INDEX-007", "error", 6),
        ("INV-CONFIG-002", "warning", 2),
    ]


def test_queues_beside_those_in_rocksdb_are_not_moved() -> None:
    mixed = listing("consumequeue", files=("consumequeue/CURRENT",))
    [step] = next_steps(advice(UNIT, listing=mixed))
    assert (step["do"], step["commands"]) == (TEXTS["NO_REBUILD"], [])


def test_queues_with_a_missing_file_are_rebuilt() -> None:
    missing = finding("INV-FILE-003", file="consumequeue/T/0/00000000000000000020")
    (step,) = next_steps(advice(missing, forecast=REBUILT))
    assert step["commands"] == ["mv '/a b/consumequeue' '/a b.consumequeue'"]
    of_log = finding("INV-FILE-003", file="commitlog/00000000000000001024")
    (step,) = next_steps(advice(of_log))
    assert (step["do"], step["commands"]) == (INVARIANTS["INV-FILE-003"].advice, [])


def test_no_index_file_is_moved_because_another_is_missing() -> None:
    gap = finding("INV-INDEX-011", Severity.WARNING, "index/20261123000000000")
    (step,) = next_steps(advice(gap))
    assert step["commands"] == []


def test_the_cost_of_an_unread_file_is_the_outcome_of_the_start() -> None:
    state = ("config/topics.json", "is blank: nothing is read")
    topics, groups = (
        finding("INV-CONFIG-001", file=f"config/{name}.json")
        for name in ("topics", "subscriptionGroup")
    )
    forecast = replace(HARMLESS, config_states=(state,))
    for one, cost in ((topics, " ".join(state)), (groups, "lost")):
        (step,) = next_steps(advice(one, forecast=forecast))
        assert str(step["cost"]).endswith(f"{cost}.")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("INV-CQ-005", f"consumequeue/T/0/{0:020}"),
        ("INV-CHECK-001", "checkpoint"),
    ],
)
def test_a_directory_in_place_of_a_file_is_moved_out(name: str, file: str) -> None:
    refused = replace(HARMLESS, refusal=f"{file} is no file", obstacle=file)
    found = advice(finding(name, Severity.WARNING, file), forecast=refused)
    beside = f"/a b.{file.replace('/', '-')}"
    moved = [f"mv '/a b/{file}' '{beside}'", "rmqc audit '/a b'"]
    assert found.first_steps == [(TEXTS["OBSTACLE"], moved)]
    assert [step["do"] for step in next_steps(found)] == [TEXTS["AFTER_REFUSAL"]]


def test_all_empty_files_are_deleted_in_one_step() -> None:
    """A start stops at the first, and each audit would advise to move only that."""
    files = tuple(f"consumequeue/T/{queue}/{20:020}" for queue in range(12))
    empty = [finding("INV-FILE-002", file=file) for file in files]
    refused = replace(HARMLESS, refusal="it is empty", obstacle=files[-1])
    found = advice(*empty, forecast=refused, listing=listing(files=files))
    delete = "find -L '/a b' -type f -empty -name '[0-9]*' -delete"
    assert found.first_steps == [(TEXTS["EMPTY"], [delete, "rmqc audit '/a b'"])]
    assert [step["do"] for step in next_steps(found)] == [TEXTS["AFTER_REFUSAL"]]


@pytest.mark.parametrize("severity", [Severity.ERROR, Severity.WARNING])
def test_a_broken_table_does_not_follow_from_the_log(severity: Severity) -> None:
    table = finding("INV-CONFIG-001", severity, "config/topics.json")
    files = listing(files=("config/topics.json.bak",))
    found = advice(table, DAMAGED, forecast=LOSSES, listing=files)
    assert found.for_group([table]) == (INVARIANTS["INV-CONFIG-001"].advice, [])


def test_no_copy_is_put_in_place_that_is_broken_too() -> None:
    table = finding("INV-CONFIG-001", file="config/consumerOffset.json")
    copy = replace(
        finding("INV-CONFIG-003", Severity.WARNING),
        file="config/consumerOffset.json.bak",
    )
    refused = replace(HARMLESS, refusal="consumerOffset.json is broken")
    found = advice(table, copy, forecast=refused)
    salvaged = "rmqc salvage '/a b' -o '/a b.salvaged'"
    assert found.first_steps == [(TEXTS["SALVAGE_REFUSED"], [salvaged])]
    assert [step["do"] for step in next_steps(found)] == [
        TEXTS["NO_COPY"],
        TEXTS["NO_COPY"],
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("topics", "mqadmin updateTopic`"),
        ("subscriptionGroup", "mqadmin updateSubGroup`"),
        ("consumerOffset", "Nothing: a running broker persists the file"),
    ],
)
def test_the_broker_writes_a_broken_copy_again(name: str, text: str) -> None:
    copy = finding("INV-CONFIG-003", Severity.WARNING, f"config/{name}.json.bak")
    files = listing(files=(f"config/{name}.json",))
    assert text in advice(copy, listing=files).for_group([copy])[0]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        pytest.param("INV-CONFIG-001", "topics.json", id="no copy"),
        pytest.param("INV-CONFIG-003", "topics.json.bak", id="no file"),
        pytest.param("INV-CONFIG-005", "topics.json", id="neither"),
    ],
)
def test_a_file_without_the_other_is_brought_back(name: str, file: str) -> None:
    one = finding(name, file=f"config/{file}")
    assert advice(one).for_group([one]) == (TEXTS["NO_COPY"], [])


def test_a_start_that_does_harm_repairs_no_warning_of_queues() -> None:
    late = replace(UNIT, severity=Severity.WARNING)
    moved = "mv '/a b/consumequeue' '/a b.consumequeue'"
    assert advice(late, forecast=HIDDEN).for_group([late])[1] == [moved]


def test_the_json_of_a_forecast_has_both_parts_of_the_loss() -> None:
    found = replace(LOSSES, unreadable=(("T", 2000),)).as_json()
    assert found["lost"] == 3001
    assert (found["unreadable"], found["destroyed"]) == (2000, 1001)


def test_queues_are_rebuilt_only_if_a_start_without_them_is_harmless() -> None:
    good, bad = REBUILT, replace(HARMLESS, rebuilt=LOSSES)
    moved = "mv '/a b/consumequeue' '/a b.consumequeue'"
    assert advice(UNIT, forecast=good).for_group([UNIT])[1] == [moved]
    for forecast in (bad, None):  # a large log has no forecast
        found = advice(UNIT, forecast=forecast)
        assert found.for_group([UNIT]) == (TEXTS["NO_REBUILD"], [])
    late = replace(UNIT, severity=Severity.WARNING)
    assert advice(late).for_group([late]) == (TEXTS["BY_ITSELF"], [])
    assert advice(UNIT).first_steps == []


@pytest.mark.parametrize("name", ["INV-BATCH-004", "INV-EXT-001"])
def test_a_start_does_not_repair_fields_that_it_does_not_read(name: str) -> None:
    one = finding(name, Severity.WARNING)
    found = advice(one, forecast=REBUILT)
    assert found.for_group([one])[0] == TEXTS["REBUILD"].format(names="consumequeue")
    assert "that a starting broker does not repair" in (found.headline or "")


def test_no_directory_of_an_lmq_is_moved() -> None:
    """Real 4.9.7 and 5.3.3 then have 20 of 60 units after a crash, 0 after a stop."""
    one = finding("INV-LIGHT-001", file=f"consumequeue/%LMQ%a/0/{0:020}")
    text, commands = advice(one, forecast=REBUILT).for_group([one])
    assert (text.startswith("Bring the LMQ's directory back"), commands) == (True, [])


def test_a_start_does_not_repair_a_checkpoint_by_itself() -> None:
    late = finding("INV-CHECK-003", Severity.WARNING, "checkpoint")
    assert advice(late).for_group([late]) == (late.invariant.advice, [])
    assert "index_ms only when an index file becomes full" in late.invariant.advice


@pytest.mark.parametrize("forecast", [None, HARMLESS])
def test_nothing_is_to_do_about_a_log_end_that_a_start_repairs(
    forecast: StartForecast | None,
) -> None:
    end = replace(DAMAGED, severity=Severity.WARNING)
    found = advice(end, forecast=forecast)
    (step,) = next_steps(found)
    assert found.headline == (
        "No errors: a starting broker repairs the warnings by itself."
    )
    assert (step["do"], step["cost"]) == (TEXTS["BY_ITSELF"], TEXTS["UNFINISHED"])


def test_a_log_end_is_brought_back_where_a_start_does_harm() -> None:
    end = replace(DAMAGED, severity=Severity.WARNING)
    (step,) = next_steps(advice(end, forecast=replace(HARMLESS, refusal="it is so")))
    assert step["do"] == RESTORED.replace(EXPLAINED, "")
    assert step["cost"] == end.invariant.cost


def test_only_the_forecast_contains_the_effect_of_a_start() -> None:
    for one in INVARIANTS.values():
        if one.id.startswith(("INV-LOG", "INV-FILE-003")):
            assert "recovering broker" not in one.cost
            assert "Recovery truncates" not in one.cost


def test_only_directories_that_exist_are_moved() -> None:
    extension = finding("INV-EXT-001", file=f"consumequeue_ext/T/0/{0:020}")
    one = listing("consumequeue")
    found = advice(extension, forecast=REBUILT, listing=one)
    text, commands = found.for_group([extension])
    assert "move consumequeue out of the store" in text
    assert commands == ["mv '/a b/consumequeue' '/a b.consumequeue'"]
    found = advice(UNIT, forecast=REBUILT, listing=listing("commitlog"))
    text = TEXTS["REBUILD_MISSING"].format(name="consumequeue")
    assert found.for_group([UNIT]) == (text, [])


@pytest.mark.parametrize("name", ["INV-CQ-005", "INV-BATCH-002", "INV-EXT-001"])
def test_queues_are_rebuilt_together(name: str) -> None:
    """Dispatch begins behind the last unit of all queues, of both kinds."""
    both = ("consumequeue", "batchconsumequeue")
    found = advice(UNIT, forecast=REBUILT, listing=listing(*both))
    _, commands = found.for_group([finding(name)])
    assert sorted(commands) == [f"mv '/a b/{one}' '/a b.{one}'" for one in sorted(both)]


def test_an_index_file_is_moved_by_its_path() -> None:
    name = "index/20261123000000000"
    size = finding("INV-INDEX-002", file=name)
    text, commands = advice(size).for_group([size, size])
    assert "nothing else" in text
    assert commands == [f"mv '/a b/{name}' '/a b.{name.replace('/', '-')}'"]


@pytest.mark.parametrize("rebuilt", [None, LOSSES])
def test_an_index_file_with_a_wrong_item_stays(rebuilt: StartForecast | None) -> None:
    found = advice(ITEM, forecast=replace(HARMLESS, rebuilt=rebuilt))
    assert found.for_group([ITEM]) == (TEXTS["KEEP_INDEX"], [])


@pytest.mark.parametrize("name", ["INV-INDEX-001", "INV-INDEX-007"])
def test_an_index_is_built_again_with_the_queues(name: str) -> None:
    directories = ("consumequeue", "index")
    found = advice(forecast=REBUILT, listing=listing(*directories))
    text, commands = found.for_group([finding(name)])
    assert text == TEXTS["REBUILD_INDEX"].format(names="consumequeue and index")
    assert commands == [f"mv '/a b/{one}' '/a b.{one}'" for one in directories]


def test_no_file_is_moved_twice() -> None:
    queues = ["mv '/a b/consumequeue' '/a b.consumequeue'"]
    slot, late = finding("INV-INDEX-003"), replace(UNIT, severity=Severity.WARNING)
    found = advice(
        *(UNIT, late, ITEM, slot),
        forecast=replace(HIDDEN, rebuilt=HARMLESS),
        listing=listing("consumequeue", "index"),
    )
    steps = {
        (one["invariant"], one["severity"]): (one["do"], one["commands"])
        for one in next_steps(found)
    }
    rebuild = TEXTS["REBUILD"].format(names="consumequeue")
    both = TEXTS["REBUILD_INDEX"].format(names="consumequeue and index")
    assert steps == {
        ("INV-CQ-001", "error"): (rebuild, queues),
        ("INV-INDEX-003", "error"): (both, ["mv '/a b/index' '/a b.index'"]),
        ("INV-INDEX-007", "error"): (TEXTS["SAME"].format(name="INV-INDEX-003"), []),
        ("INV-CQ-001", "warning"): (rebuild, []),
    }


def test_findings_of_one_invariant_are_one_group_with_a_count() -> None:
    units = [
        finding("INV-CQ-001", file=f"consumequeue/T/{n}/{0:020}", offset=20 * one)
        for n in range(5)
        for one in range(10)
    ]
    assert [group["count"] for group in groups_of(units[:30])] == [10, 10, 10]
    (group,) = groups_of([*units[:-1], replace(units[-1], more=7)])
    assert (group["count"], group["file"]) == (57, units[0].file)
    assert group["message"] == "57 findings in 5 directories, the first: It is so."
    assert groups_of(units[:1])[0]["message"] == "It is so."
