"""Stores that the advice of a report copies commit-log files from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cli.pages.audit.advice import RESTORED
from spark_checks.store_files import StoreFile
from spark_checks.tests.commands.advised import (
    DAMAGED,
    LOG,
    LOSSES,
    SHORT_LOG,
    UNIT,
    advice,
    listing,
)


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


@pytest.mark.parametrize(
    ("changed", "only_here", "donor"),
    [(1, 0, "/c"), (2, 0, "OTHER"), (1, 1, "OTHER")],
)
def test_a_store_of_another_log_is_no_donor(
    changed: int, only_here: int, donor: str
) -> None:
    differing = {"changed": changed, "only_here": only_here, "only_there": 3}
    against = {"store": "/c", "ranges": [differing]}
    found = advice(DAMAGED, forecast=LOSSES, against=against)
    commands = [command for _, each in found.first_steps for command in each]
    assert f"cp -a {donor}/{LOG} '/a b/{LOG}'" in commands


@pytest.mark.parametrize(
    ("here", "there", "donor"),
    [(2500, 999, "OTHER"), (2500, 1000, "/c"), (700, 700, "/c"), (700, 600, "OTHER")],
)
def test_a_backup_that_ends_within_a_file_is_no_donor_of_it(
    here: int, there: int, donor: str
) -> None:
    log = [StoreFile(path=f"commitlog/{n:020}", size=1000) for n in (0, 1000, 2000)]
    found = advice(
        DAMAGED,
        forecast=LOSSES,
        against={
            "store": "/c",
            "here": {"end": str(here)},
            "there": {"end": str(there)},
        },
        listing=replace(listing(), files=tuple(log)),
    )
    command = f"cp -a {donor}/{LOG} '/a b/{LOG}'"
    (text,) = (text for text, each in found.first_steps if command in each)
    assert (text == RESTORED) is (donor == "OTHER")
