"""Texts of faults are parsed, and wrong ones are refused in a line."""

from __future__ import annotations

import pytest

from reference.shell.faults.catalogue import (
    Fault,
    FaultError,
    parse_fault,
    parse_faults,
)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("busy", Fault("busy")),
        ("busy:10%", Fault("busy", 0.1)),
        ("slow", Fault("slow", 1.0, 1000)),
        ("slow:2s", Fault("slow", 1.0, 2000)),
        (" slow:200ms:0.5% ", Fault("slow", 0.005, 200)),
    ],
)
def test_a_text_is_parsed_and_printed(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault
    assert parse_fault(str(fault)) == fault


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bussy", "'bussy' is not a fault: busy, close"),
        ("busy:2s", "'2s' is not a share"),
        ("busy:101%", "at most 100%"),
        ("busy:2", "'2' is not a share such as 10%"),
        ("slow:2", "'2' is not a time such as 2s, or a share such as 10%"),
        ("slow:-1s", "'-1s' is not a time such as 2s, or a share"),
        ("slow:1s:2s", "one share and one time at most"),
        ("busy:10%:5%", "one share and one time at most"),
        ("", "'' is not a fault: busy, .* or none alone"),
    ],
)
def test_a_wrong_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(FaultError, match=message):
        parse_fault(text)


def test_none_stands_alone() -> None:
    assert parse_faults(["none"]) == ()
    assert parse_faults([]) == ()
    for texts in (["none,busy"], ["none", "none"], [""], ["busy,"]):
        with pytest.raises(FaultError, match="is not a fault"):
            parse_faults(texts)


def test_a_comma_list_has_several_faults() -> None:
    assert [one.name for one in parse_faults(["busy,slow", "close"])] == [
        "busy",
        "slow",
        "close",
    ]
