"""
Each kind of finding has advice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_checks.audit import Audit
from spark_checks.findings import INVARIANTS, Finding, Invariant, Severity, in_order
from spark_checks.report.advice import (
    RESTORED,
    TEXTS,
    Advice,
    next_steps,
)
from spark_checks.report.groups import groups_of
from spark_checks.report.start_forecast import StartForecast
from spark_checks.store_files import Store, StoreFile


@pytest.mark.parametrize("invariant", INVARIANTS.values(), ids=lambda one: one.id)
def test_every_finding_has_a_sentence(invariant: Invariant) -> None:
    output = invariant.advice
    assert output[0].isupper()
    assert output.endswith(".")
    assert output.count(". ") <= 1


def finding(
    name: str, severity: Severity = Severity.ERROR, file: str = "f", offset: int = 0
) -> Finding:
    """Return a finding of the invariant *name*."""
    return Finding(
        invariant=INVARIANTS[name],
        severity=severity,
        file=file,
        offset=offset,
        length=1,
        expected="x",
        found="y",
        message="It is so.",
    )


LOG = f"commitlog/{0:020}"
DAMAGED = finding("INV-LOG-001", file=LOG)
UNIT = finding("INV-CQ-001", file=f"consumequeue/T/0/{0:020}")
ITEM = finding("INV-INDEX-007", file="index/20261123000000000")
HARMLESS = StartForecast(release="4.6.0")
LOSSES = StartForecast(release="4.6.0", lost=(("T", 3000), ("U", 1)), rebuilt=HARMLESS)
SHORT_LOG = replace(LOSSES, lacks_files=True)
HIDDEN = replace(HARMLESS, invisible=2500, rebuilt=HARMLESS)


def advice(
    *findings: Finding, forecast: StartForecast | None = None, **more: Any
) -> Advice:
    """Return the advice for a store with *findings*, and *more* of its audit."""
    found = tuple(in_order(findings))
    more.setdefault("listing", listing("consumequeue"))
    audit = Audit(store="/a b", summary={}, findings=found, forecast=forecast, **more)
    return Advice(audit=audit)


def listing(*directories: str) -> Store:
    """Return a store with these directories."""
    return Store(url="/a b", files=(), directories=frozenset(directories))


def test_steps_are_one_a_kind_and_the_gravest_comes_first() -> None:
    warning = finding("INV-CONFIG-002", Severity.WARNING)
    found = next_steps(advice(warning, ITEM, replace(ITEM, more=4), warning))
    assert [(s["invariant"], s["severity"], s["count"]) for s in found] == [
        ("INV-INDEX-007", "error", 6),
        ("INV-CONFIG-002", "warning", 2),
    ]


@pytest.mark.parametrize(
    ("names", "headline"),
    [
        (
            ["INV-CQ-005", "INV-LOG-001"],
            "No errors: a starting broker repairs the warnings by itself.",
        ),
        (
            ["INV-CQ-005", "INV-CONFIG-005", "INV-INDEX-011", "INV-INDEX-011"],
            "No errors, but 2 kinds of warning that a starting broker does not repair:"
            " see the steps.",
        ),
    ],
)
def test_a_headline_promises_only_repairs_that_a_start_makes(
    names: list[str], headline: str
) -> None:
    found = [finding(name, Severity.WARNING) for name in names]
    assert advice(*found).headline == headline


def test_a_stray_file_is_moved_before_a_new_store_is_written() -> None:
    refused = StartForecast(release="4.6.0", refusal="commitlog/x is no file")
    assert advice(finding("INV-FILE-002"), forecast=refused).first_steps
    found = advice(finding("INV-FILE-001", file="commitlog/x"), forecast=refused)
    [step] = next_steps(found)
    assert (found.first_steps, step["commands"]) == (
        [],
        ["mv '/a b/commitlog/x' '/a b.commitlog-x'"],
    )


def test_queues_beside_those_in_rocksdb_are_not_moved() -> None:
    database = StoreFile(path="consumequeue/CURRENT", size=16)
    mixed = replace(listing("consumequeue"), files=(database,))
    [step] = next_steps(advice(UNIT, listing=mixed))
    assert (step["do"], step["commands"]) == (TEXTS["NO_REBUILD"], [])


def test_a_store_that_does_not_start_is_not_called_undamaged() -> None:
    refused = StartForecast(release="4.6.0", refusal="commitlog/0 is no file")
    found = advice(finding("INV-FILE-002"), forecast=refused)
    assert found.headline == (
        "No record is damaged, but the store has errors. The start of a 4.6.0 broker"
        " fails: commitlog/0 is no file."
    )


def test_a_log_with_an_unreadable_end_is_not_called_undamaged() -> None:
    torn = finding("INV-LOG-001", Severity.WARNING)
    refused = StartForecast(release="4.6.0", refusal="commitlog/0 is no file")
    found = advice(torn, finding("INV-CONFIG-001"), forecast=refused)
    assert found.headline == (
        "The commit log cannot be read to its end, and the store has errors. The start"
        " of a 4.6.0 broker fails: commitlog/0 is no file."
    )


def test_a_stray_file_is_moved_out_and_the_log_is_intact() -> None:
    stray = finding("INV-FILE-001", file="commitlog/README.txt")
    found = advice(stray)
    assert found.headline is not None
    assert found.headline.startswith("No damage to the commit log")
    assert found.first_steps == []
    (step,) = next_steps(found)
    assert step["commands"] == [
        "mv '/a b/commitlog/README.txt' '/a b.commitlog-README.txt'"
    ]
    (step,) = next_steps(advice(finding("INV-FILE-001", file="consumequeue/notes")))
    assert step["commands"] == [
        "mv '/a b/consumequeue/notes' '/a b.consumequeue-notes'"
    ]


def test_queues_with_a_missing_file_are_rebuilt() -> None:
    missing = finding("INV-FILE-003", file="consumequeue/T/0/00000000000000000020")
    (step,) = next_steps(advice(missing))
    assert step["commands"] == ["mv '/a b/consumequeue' '/a b.consumequeue'"]
    of_log = finding("INV-FILE-003", file="commitlog/00000000000000001024")
    (step,) = next_steps(advice(of_log))
    assert (step["do"], step["commands"]) == (INVARIANTS["INV-FILE-003"].advice, [])


def test_no_index_file_is_moved_because_another_is_missing() -> None:
    gap = finding("INV-INDEX-011", Severity.WARNING, "index/20261123000000000")
    (step,) = next_steps(advice(gap))
    assert step["commands"] == []


def test_a_damaged_log_is_the_headline_and_no_queue_is_moved() -> None:
    found = advice(UNIT, ITEM, DAMAGED, forecast=LOSSES)
    assert found.headline == (
        f"The commit log is damaged in 1 place, first in {LOG}. The start of a 4.6.0"
        " broker loses 3,001 messages: 3,000 of T, 1 of U."
    )
    steps = [*found.first_steps, *(found.for_group([one]) for one in (UNIT, ITEM))]
    commands = [command for _, each in steps for command in each]
    assert commands == [
        "cp -a '/a b' '/a b.copy'",
        "rmqc recover '/a b' --release 4.6.0 --dry-run",
        f"cp -a OTHER/{LOG} '/a b/{LOG}'",
        "rmqc audit '/a b'",
        "rmqc salvage '/a b' -o '/a b.salvaged'",
    ]
    assert next_steps(found)[0]["invariant"] == "INV-LOG-001"


@pytest.mark.parametrize("severity", [Severity.ERROR, Severity.WARNING])
def test_a_missing_end_of_the_log_is_the_headline_and_nothing_is_moved(
    severity: Severity,
) -> None:
    unit, item = (replace(one, severity=severity) for one in (UNIT, ITEM))
    checkpoint = finding("INV-CHECK-002", severity, "checkpoint")
    found = advice(unit, item, checkpoint, forecast=SHORT_LOG)
    assert found.headline == (
        "The commit log can be read, but its end may be missing. The start of a"
        " 4.6.0 broker loses 3,001 messages: 3,000 of T, 1 of U."
    )
    assert [step["do"] for step in next_steps(found)] == [TEXTS["AFTER_LOG"]] * 3
    commands = [command for _, each in found.first_steps for command in each]
    assert commands == [
        "cp -a '/a b' '/a b.copy'",
        "rmqc recover '/a b' --release 4.6.0 --dry-run",
        "cp -an OTHER/commitlog/. '/a b/commitlog/'",
        "rmqc audit '/a b'",
        "rmqc salvage '/a b' -o '/a b.salvaged'",
    ]


def test_a_file_without_its_end_is_replaced() -> None:
    found = advice(UNIT, forecast=replace(LOSSES, cut_file=LOG))
    assert found.is_log_short
    commands = dict(found.first_steps)[RESTORED]
    assert commands == [f"cp -a OTHER/{LOG} '/a b/{LOG}'", "rmqc audit '/a b'"]


def test_a_file_of_another_store_is_named_first_and_replaced() -> None:
    found = advice(UNIT, forecast=replace(LOSSES, foreign_files=(LOG,)))
    assert found.headline is not None
    assert found.headline.startswith(
        f"The commit log can be read, but another store's records are in {LOG}. The"
        " start of a 4.6.0 broker loses 3,001 messages"
    )
    commands = dict(found.first_steps)[RESTORED]
    assert commands == [f"cp -a OTHER/{LOG} '/a b/{LOG}'", "rmqc audit '/a b'"]


@pytest.mark.parametrize(
    ("other", "donor", "explains"),
    [
        ("/c d/", "'/c d'", False),
        (None, "OTHER", True),
        ("s3://bucket/c", "OTHER", True),
    ],
)
def test_the_compared_store_is_the_donor(
    other: str | None, donor: str, *, explains: bool
) -> None:
    against = None if other is None else {"store": other}
    damaged = advice(DAMAGED, forecast=LOSSES, against=against)
    short = advice(UNIT, forecast=SHORT_LOG, against=against)
    for found, command in (
        (damaged, f"cp -a {donor}/{LOG} '/a b/{LOG}'"),
        (short, f"cp -an {donor}/commitlog/. '/a b/commitlog/'"),
    ):
        (text,) = (text for text, each in found.first_steps if command in each)
        assert ("OTHER is the path" in text) is explains


@pytest.mark.parametrize("forecast", [HIDDEN, replace(HIDDEN, lost=(("T", 5),))])
def test_a_whole_log_with_garbage_units_is_salvaged(forecast: StartForecast) -> None:
    found = advice(UNIT, forecast=forecast)
    assert found.headline is not None
    assert "may be missing" not in found.headline
    assert "leaves 2,500 messages in the log without a unit" in found.headline
    assert [step for step, _ in found.first_steps][-1] == TEXTS["SALVAGE_UNITS"]
    commands = [command for _, each in found.first_steps for command in each]
    assert commands == [
        "cp -a '/a b' '/a b.copy'",
        "rmqc recover '/a b' --release 4.6.0 --dry-run",
        "rmqc salvage '/a b' -o '/a b.salvaged'",
    ]


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


@pytest.mark.parametrize("forecast", [LOSSES, SHORT_LOG, HIDDEN])
@pytest.mark.parametrize("damage", [[], [DAMAGED]])
def test_no_step_starts_a_broker_on_the_harmed_store(
    damage: list[Finding], forecast: StartForecast
) -> None:
    found = advice(UNIT, *damage, forecast=forecast)
    last, commands = found.first_steps[-1]
    assert last.endswith("and start the broker on it.")
    assert commands == ["rmqc salvage '/a b' -o '/a b.salvaged'"]
    assert not any("start the broker:" in step for step, _ in found.first_steps)


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


def test_a_directory_in_place_of_a_log_file_is_moved_before_a_copy() -> None:
    refused = replace(LOSSES, refusal="it is no file", obstacle=LOG)
    steps = advice(DAMAGED, forecast=refused).first_steps
    texts = [text for text, _ in steps]
    assert texts.index(TEXTS["OBSTACLE"]) + 1 == texts.index(RESTORED)
    moved = dict(steps)[TEXTS["OBSTACLE"]][0]
    assert moved == f"mv '/a b/{LOG}' '/a b.{LOG.replace('/', '-')}'"


@pytest.mark.parametrize("severity", [Severity.ERROR, Severity.WARNING])
def test_a_broken_table_does_not_follow_from_the_log(severity: Severity) -> None:
    table = finding("INV-CONFIG-001", severity, "config/topics.json")
    found = advice(table, DAMAGED, forecast=LOSSES)
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
    assert text in advice(copy).for_group([copy])[0]


def test_a_start_that_does_harm_repairs_no_warning_of_queues() -> None:
    late = replace(UNIT, severity=Severity.WARNING)
    moved = "mv '/a b/consumequeue' '/a b.consumequeue'"
    assert advice(late, forecast=HIDDEN).for_group([late])[1] == [moved]


def test_a_damaged_log_is_the_headline_also_if_it_was_not_requested() -> None:
    for findings in ([UNIT], []):
        found = advice(*findings, forecast=LOSSES, unrequested_damage=(DAMAGED,))
        assert found.headline == (
            f"The commit log is damaged in 1 place, first in {LOG}. The start of a"
            " 4.6.0 broker loses 3,001 messages: 3,000 of T, 1 of U."
        )
        commands = [command for _, each in found.first_steps for command in each]
        assert f"cp -a OTHER/{LOG} '/a b/{LOG}'" in commands
        assert found.for_group([UNIT]) == (TEXTS["AFTER_LOG"], [])


@pytest.mark.parametrize("forecast", [HARMLESS, LOSSES])
def test_a_part_of_the_log_is_not_called_the_log(forecast: StartForecast) -> None:
    found = advice(UNIT, forecast=forecast, is_log_read_whole=False)
    assert found.headline is not None
    assert "audited part of the commit log" in found.headline


def test_a_start_that_fails_names_the_lost_messages() -> None:
    refused = replace(LOSSES, refusal="it waits for ever")
    assert refused.result == (
        "The start of a 4.6.0 broker fails: it waits for ever."
        " Lost: 3,001 messages: 3,000 of T, 1 of U."
    )
    assert replace(refused, lost=()).result.endswith("fails: it waits for ever.")


def test_the_json_of_a_forecast_has_both_parts_of_the_loss() -> None:
    found = replace(LOSSES, unreadable=(("T", 2000),)).as_json()
    assert found["lost"] == 3001
    assert (found["unreadable"], found["destroyed"]) == (2000, 1001)


def test_queues_are_rebuilt_only_if_a_start_without_them_is_harmless() -> None:
    good, bad = (replace(HARMLESS, rebuilt=one) for one in (HARMLESS, LOSSES))
    moved = "mv '/a b/consumequeue' '/a b.consumequeue'"
    assert advice(UNIT, forecast=good).for_group([UNIT])[1] == [moved]
    assert advice(UNIT, forecast=bad).for_group([UNIT]) == (TEXTS["NO_REBUILD"], [])
    late = replace(UNIT, severity=Severity.WARNING)
    assert advice(late).for_group([late]) == (TEXTS["BY_ITSELF"], [])
    assert advice(UNIT).first_steps == []


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
    assert (step["do"], step["cost"]) == (RESTORED, end.invariant.cost)


def test_only_the_forecast_contains_the_effect_of_a_start() -> None:
    for one in INVARIANTS.values():
        if one.id.startswith(("INV-LOG", "INV-FILE-003")):
            assert "recovering broker" not in one.cost
            assert "Recovery truncates" not in one.cost


def test_only_directories_that_exist_are_moved() -> None:
    extension = finding("INV-EXT-001", file=f"consumequeue_ext/T/0/{0:020}")
    found = advice(extension, listing=listing("consumequeue"))
    text, commands = found.for_group([extension])
    assert "move consumequeue out of the store" in text
    assert commands == ["mv '/a b/consumequeue' '/a b.consumequeue'"]
    found = advice(UNIT, listing=listing("commitlog"))
    text = TEXTS["REBUILD_MISSING"].format(name="consumequeue")
    assert found.for_group([UNIT]) == (text, [])


@pytest.mark.parametrize("name", ["INV-CQ-005", "INV-BATCH-002", "INV-EXT-001"])
def test_queues_are_rebuilt_together(name: str) -> None:
    """Dispatch begins behind the last unit of all queues, of both kinds."""
    both = ("consumequeue", "batchconsumequeue")
    found = advice(UNIT, listing=listing(*both))
    _, commands = found.for_group([finding(name)])
    assert sorted(commands) == [f"mv '/a b/{one}' '/a b.{one}'" for one in sorted(both)]


def test_an_index_file_is_moved_by_its_path() -> None:
    text, commands = advice(ITEM).for_group([ITEM, ITEM])
    assert "nothing else" in text
    name = "index/20261123000000000"
    assert commands == [f"mv '/a b/{name}' '/a b.{name.replace('/', '-')}'"]


@pytest.mark.parametrize(
    ("forecast", "result"),
    [
        (replace(HARMLESS, refusal="it is so"), "broker fails: it is so."),
        (replace(HARMLESS, lost=(("T", 1),)), "loses 1 message of T."),
        (
            replace(HARMLESS, lost=tuple((name, 9) for name in "ABCDE")),
            "loses 45 messages: 9 of A, 9 of B, 9 of C, 18 of 2 other topics.",
        ),
        (
            replace(HARMLESS, lost=(("T", 9),), unreadable=(("T", 9),)),
            "Already unreadable: 9 messages of T. The start of a 4.6.0 broker loses no"
            " message that can still be read.",
        ),
        (
            replace(HARMLESS, lost=(("T", 9), ("U", 2)), unreadable=(("T", 8),)),
            "Already unreadable: 8 messages of T. The start of a 4.6.0 broker loses"
            " 3 messages: 2 of U, 1 of T.",
        ),
        (replace(HARMLESS, invisible=2), "leaves 2 messages in the log without"),
        (
            replace(HARMLESS, lost=(("T", 1),), invisible=2),
            "broker loses 1 message of T, and leaves 2 messages in the log without",
        ),
        (
            replace(HARMLESS, lost=(("T", 8),), lost_later=12_752),
            "8 messages of T. A later restart loses 12,752 messages more, and those",
        ),
        (HARMLESS, "loses no message that can still be read."),
    ],
)
def test_a_forecast_is_a_sentence_for_each_start(
    forecast: StartForecast, result: str
) -> None:
    assert result in forecast.result
    does_nothing = replace(forecast, lost=forecast.destroyed, unreadable=()) == HARMLESS
    assert forecast.is_harmless is does_nothing


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
