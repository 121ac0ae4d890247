"""Numbers in properties, as an SQL expression reads them."""

from __future__ import annotations

import math
import time

import pytest

from reference.core.broker.filter.sql.parser import parse_sql
from reference.core.broker.filter.sql.values import SqlError, as_double

DIGITS = "1" * 30_000
"""Nearly as many as fit the properties of a message."""
PROCESSOR_S_MAX = 1.0
"""A scan of each digit from each other one took 14 s."""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1.5e3f", 1500.0),
        (" -2D ", -2.0),
        ("0x1.8p1", 3.0),
        ("0xAp0d", 10.0),
        ("-Infinity", -math.inf),
        (DIGITS, math.inf),
        (f"1e{DIGITS}", math.inf),
    ],
)
def test_a_double_is_read_as_by_java(text: str, value: float) -> None:
    assert as_double(text) == value


@pytest.mark.parametrize("text", ["", ".", "1e", "0x1", "0x.p1", "1_0", "1 1", "1fd"])
def test_another_text_is_no_number(text: str) -> None:
    with pytest.raises(SqlError, match="is no number"):
        as_double(text)


@pytest.mark.parametrize("text", [f"{DIGITS}x", f"0x{DIGITS}x", f".{DIGITS}x"])
def test_many_digits_are_scanned_once(text: str) -> None:
    expression = parse_sql("a > 1.5")
    began = time.process_time()
    with pytest.raises(SqlError):
        expression.value({"a": text})
    assert time.process_time() - began < PROCESSOR_S_MAX
