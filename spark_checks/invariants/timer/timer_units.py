"""Whole units of a timer log, and their chains: the units of one due time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from columns.gather import Ints, dtype_of
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import Store, StoreFile, read_whole
from spec.store.blank import BLANK_MAGIC
from spec.store.timer.timer_log import (
    BLANK_SIZE_MIN,
    NONE_BEFORE,
    TIMER_LOG,
    UNIT_SIZE,
    timer_blank_layout,
    timer_unit_layout,
)

MAGIC_MAX = 7
"""All bits of TimerMagic."""
Rows = npt.NDArray[Any]
Damage = tuple[StoreFile, int, str]
"""File, position and content of a damaged place."""
_units = dtype_of(timer_unit_layout)


@dataclass(frozen=True, kw_only=True)
class TimerLog:
    """The whole units of a timer log."""

    units: Rows
    positions: Ints
    """Position of each unit, counted over all files."""
    begin: int
    """Position at which the first file begins."""
    file_size: int

    @cached_property
    def due_ms(self) -> Ints:
        """Due time of each unit: its write time and its delay."""
        found: Ints = self.units["written_at_ms"].astype(np.int64) + self.units[
            "delay_ms"
        ].astype(np.int64)
        return found

    @property
    def end(self) -> int:
        """Position behind the last unit."""
        return int(self.positions[-1]) + UNIT_SIZE if len(self.positions) else 0

    def place(self, index: int) -> tuple[str, tuple[int, int]]:
        """Return file, position and length of the unit with that *index*."""
        position = int(self.positions[index])
        offset = (position - self.begin) % self.file_size
        name = f"{position - offset:020d}"
        return f"{TIMER_LOG}/{name}", (offset, UNIT_SIZE)


def read_timer_log(
    store: Store, files: Sequence[StoreFile]
) -> tuple[TimerLog | None, list[Damage]]:
    """Return the units of *files*, None without units, and the damaged places."""
    damaged: list[Damage] = []
    units, positions = [np.zeros(0, dtype=_units)], [np.zeros(0, dtype=np.int64)]
    for number, file in enumerate(files):
        data = read_whole(store.url, file, size_max=file.size)
        rows = np.frombuffer(data[: len(data) // UNIT_SIZE * UNIT_SIZE], dtype=_units)
        end = _end_of(rows)
        is_last = number == len(files) - 1
        blank = _wrong_blank(data, end * UNIT_SIZE, is_last=is_last)
        if blank:
            damaged.append((file, end * UNIT_SIZE, blank))
        magic = rows["magic"][:end].astype(np.int64)
        is_whole = (magic >= 1) & (magic <= MAGIC_MAX) & (magic & 1 == 1)
        is_whole &= (rows["size"] == UNIT_SIZE)[:end] & (rows["reserved"] == 0)[:end]
        damaged += [
            (file, int(index) * UNIT_SIZE, "other bytes")
            for index in np.flatnonzero(~is_whole)
        ]
        units.append(rows[:end][is_whole])
        positions.append(file.base + np.flatnonzero(is_whole) * UNIT_SIZE)
    found = np.concatenate(units)
    if not len(found):
        return None, damaged
    log = TimerLog(
        units=found,
        positions=np.concatenate(positions),
        begin=files[0].base,
        file_size=max(file.size for file in files),
    )
    return log, damaged


def _end_of(rows: Rows) -> int:
    """Return the number of rows before the blank, or before zeros to the end."""
    blanks = np.flatnonzero(
        (rows["magic"] == BLANK_MAGIC) | (rows["magic"].astype(np.int64) < 0)
    )
    of_data = rows.view(np.uint8).reshape(-1, UNIT_SIZE)
    written = np.flatnonzero(of_data.any(axis=1))
    last = int(written[-1]) + 1 if len(written) else 0
    if len(blanks) and int(blanks[-1]) == last - 1:
        return int(blanks[-1])
    return last


def _wrong_blank(data: bytes, at: int, *, is_last: bool) -> str | None:
    """Return the content in place of the blank at *at*; the last file needs none."""
    rest = len(data) - at
    if rest < BLANK_SIZE_MIN or (is_last and not any(data[at : at + BLANK_SIZE_MIN])):
        return None
    found = timer_blank_layout.parse(data[at : at + BLANK_SIZE_MIN])
    is_blank = (found.size, found.zeros, found.magic) == (rest, 0, BLANK_MAGIC)
    return None if is_blank else f"no blank of {rest} bytes"


def check_chains(log: TimerLog) -> Iterator[Finding]:
    """Yield the units that do not name the previous unit of their due time."""
    order = np.argsort(log.due_ms, kind="stable")
    expected = np.full(len(order), NONE_BEFORE, dtype=np.int64)
    same = log.due_ms[order][1:] == log.due_ms[order][:-1]
    expected[order[1:][same]] = log.positions[order[:-1][same]]
    found = log.units["previous_position"].astype(np.int64)
    is_earlier = (expected == NONE_BEFORE) & (found >= 0) & (found < log.begin)
    for index in np.flatnonzero((found != expected) & ~is_earlier)[:LISTED_MAX]:
        texts = {"previous": expected[index], "found": found[index]}
        yield file_finding("INV-TIMER-002", *log.place(int(index)), **texts)
