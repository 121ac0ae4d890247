"""Headlines and first steps of a report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cli.pages.audit.advice import RESTORED, TEXTS, next_steps
from cli.pages.audit.start_forecast import StartForecast
from spark_checks.findings import Finding, Severity
from spark_checks.tests.commands.advised import (
    DAMAGED,
    HARMLESS,
    HIDDEN,
    ITEM,
    LOG,
    LOSSES,
    SHORT_LOG,
    UNIT,
    advice,
    finding,
)


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


def test_a_headline_without_errors_counts_the_messages_that_are_gone() -> None:
    gone = (("Bills", 226),)
    forecast = replace(HARMLESS, lost=gone, unreadable=gone)
    late = finding("INV-CQ-001", Severity.WARNING)
    assert advice(late, forecast=forecast).headline == (
        "No errors: a starting broker repairs the warnings by itself."
        " Already unreadable: 226 messages of Bills. The start of a 4.6.0 broker loses"
        " no message that can still be read."
    )


def test_a_store_that_differs_from_another_is_not_without_errors() -> None:
    late = finding("INV-CQ-001", Severity.WARNING)
    assert advice(late, finding("INV-AGAINST-001")).headline is None


def test_a_stray_file_is_moved_before_a_new_store_is_written() -> None:
    refused = StartForecast(release="4.6.0", refusal="commitlog/x is no file")
    assert advice(finding("INV-FILE-002"), forecast=refused).first_steps
    found = advice(finding("INV-FILE-001", file="commitlog/x"), forecast=refused)
    [step] = next_steps(found)
    assert (found.first_steps, step["commands"]) == (
        [],
        ["mv '/a b/commitlog/x' '/a b.commitlog-x'"],
    )


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


@pytest.mark.parametrize("forecast", [HIDDEN, replace(HIDDEN, lost=(("T", 5),))])
def test_a_whole_log_with_garbage_units_is_salvaged(forecast: StartForecast) -> None:
    found = advice(UNIT, forecast=forecast)
    assert found.headline is not None
    assert "may be missing" not in found.headline
    assert "leaves 2,500 messages in the log that no consumer" in found.headline
    assert [step for step, _ in found.first_steps][-1] == TEXTS["SALVAGE_UNITS"]
    commands = [command for _, each in found.first_steps for command in each]
    assert commands == [
        "cp -a '/a b' '/a b.copy'",
        "rmqc recover '/a b' --release 4.6.0 --dry-run",
        "rmqc salvage '/a b' -o '/a b.salvaged'",
    ]


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


def test_a_directory_in_place_of_a_log_file_is_moved_before_a_copy() -> None:
    refused = replace(LOSSES, refusal="it is no file", obstacle=LOG)
    steps = advice(DAMAGED, forecast=refused).first_steps
    texts = [text for text, _ in steps]
    assert texts.index(TEXTS["OBSTACLE"]) + 1 == texts.index(RESTORED)
    moved = dict(steps)[TEXTS["OBSTACLE"]][0]
    assert moved == f"mv '/a b/{LOG}' '/a b.{LOG.replace('/', '-')}'"


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
        (replace(HARMLESS, invisible=2), "leaves 2 messages in the log that"),
        (
            replace(HARMLESS, lost=(("T", 1),), invisible=2),
            "broker loses 1 message of T, and leaves 2 messages in the log that",
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
