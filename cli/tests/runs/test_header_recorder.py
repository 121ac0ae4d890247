"""
The recorder of header tables reads Java's code rightly, and gives what is kept.

It is in ``fixtures``, which no distribution contains: its modules are imported by name.
"""

from __future__ import annotations

import importlib
import os
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
RECORDER = "fixtures.record.headers"
NO_JARS = 3
"""The recorder's exit code when a release cannot be had."""

ICONST_1, ICONST_2, ILOAD_1, IRETURN, NOP = 4, 5, 27, 172, 0
LOOKUPSWITCH, TABLESWITCH, IF_ICMPNE, WIDE, ILOAD = 171, 170, 160, 196, 21


@pytest.fixture
def modules() -> Any:
    """Return the recorder's modules by the last part of their names."""
    names = ("class_file", "instructions", "reader", "values")
    found = {name: importlib.import_module(f"{RECORDER}.{name}") for name in names}
    return SimpleNamespace(**found)


class IgnoresAll:
    """A watcher that ignores all events."""

    def called(self, call: object) -> None:
        """Return no result."""

    def follows(self, call: object) -> bool:
        """Return False for every call."""
        return call is None

    def assigned(self, owner: str, name: str, value: object) -> None:
        """Note nothing."""


def results(modules: Any, code: bytes, given: int | None) -> set[object]:
    """Return the possible results of a method ``int f(int)`` with this code."""
    values = modules.values
    method = modules.class_file.Member(
        name="f",
        descriptor="(I)I",
        flags=0,
        code=modules.class_file.Code(data=code, locals_count=2, handlers=()),
    )
    argument = values.ANY if given is None else values.one("int", given)
    owner = SimpleNamespace(name="a.B")
    reader = modules.reader.Reader({}, IgnoresAll())
    found = reader.read(owner, method, [values.one("a", "a.B"), argument])
    return {detail for _, detail in found}


def switch(at: int) -> bytes:
    """Return a switch at *at*: 10 returns 1, everything else returns 2."""
    padding = bytes((at + 4) // 4 * 4 - at - 1)
    size = 1 + len(padding) + 16
    cases = struct.pack(">iiii", size + 2, 1, 10, size)
    return bytes([LOOKUPSWITCH]) + padding + cases


@pytest.mark.parametrize("skipped", range(4))
@pytest.mark.parametrize(("given", "expected"), [(10, {1}), (11, {2}), (None, {1, 2})])
def test_a_switch_is_walked_as_far_as_the_value_is_known(
    modules: Any, skipped: int, given: int | None, expected: set[object]
) -> None:
    start = bytes([NOP] * skipped + [ILOAD_1])
    code = start + switch(len(start)) + bytes([ICONST_1, IRETURN, ICONST_2, IRETURN])
    assert results(modules, code, given) == expected


@pytest.mark.parametrize(("given", "expected"), [(1, {1}), (7, {2}), (None, {1, 2})])
def test_a_comparison_is_walked_as_far_as_the_value_is_known(
    modules: Any, given: int | None, expected: set[object]
) -> None:
    compare = bytes([ILOAD_1, ICONST_1, IF_ICMPNE, 0, 5])
    code = compare + bytes([ICONST_1, IRETURN, ICONST_2, IRETURN])
    assert results(modules, code, given) == expected


def test_a_dense_switch_and_a_wide_instruction_are_split_rightly(modules: Any) -> None:
    table = bytes([TABLESWITCH, 0, 0, 0]) + struct.pack(">5i", 24, 5, 6, 28, 24)
    code = table + bytes([WIDE, ILOAD, 1, 4, IRETURN])
    read = modules.instructions.instructions(code)
    assert read[0].cases == {5: 28, 6: 24}
    assert read[0].operand == 24
    assert (read[24].opcode, read[24].operand, read[24].after) == (ILOAD, 260, 28)


@pytest.mark.parametrize(
    "release", ["4.6.0", pytest.param("5.4.0", marks=pytest.mark.slow)]
)
def test_the_recorder_gives_the_table_that_is_kept(release: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", RECORDER, "--check", release],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode == NO_JARS:
        pytest.skip(f"the jars of {release} cannot be had here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
