"""
Salvage keeps every message that a start keeps, and the table of docs/salvage.md is so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.damages.command_process import Command, running_command
from conformance.damages.damages import DAMAGES
from conformance.damages.recorded_stores import recorded_releases
from conformance.damages.salvaged_messages import (
    PAGE,
    MessageCounts,
    kept_messages,
    numbers_on_page,
)

WRONG_OFFSET = ("last_physical_offset", "last_physical_offset_after_crash")
"""Faults that are not distinguished from an old record left in the file."""
QUICK = ("recent_body_bit_after_crash", "blank_zeros", "middle_file_empty")
PARAMETERS = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in DAMAGES
]


@pytest.fixture(scope="module")
def rmqc() -> Iterator[Command]:
    """Return the command, which answers all tests of this file."""
    with running_command() as command:
        yield command


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_page_has_the_numbers_of_each_fault(
    rmqc: Command, tmp_path: Path, name: str
) -> None:
    on_page = numbers_on_page(PAGE.read_text("utf-8"))[name]
    found = {
        release: kept_messages(rmqc, release, DAMAGES[name], tmp_path / release)
        for release in recorded_releases()
    }
    assert found == on_page


def test_salvage_keeps_every_message_that_a_start_keeps() -> None:
    on_page = numbers_on_page(PAGE.read_text("utf-8"))
    assert list(on_page) == list(DAMAGES)
    worse = [
        name
        for name, by_release in on_page.items()
        if any(kept.salvage < kept.start for kept in by_release.values())
    ]
    assert worse == list(WRONG_OFFSET)
    whole = on_page["nothing"].values()
    assert all(
        kept == MessageCounts(kept.before, kept.before, kept.before) for kept in whole
    )
