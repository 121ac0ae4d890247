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


def test_many_signs_are_scanned_once() -> None:
    began = time.process_time()
    expression = parse_sql("a = --1 OR " * 20_000 + "a = 2")
    assert time.process_time() - began < 8 * PROCESSOR_S_MAX
    assert expression.value({"a": "2"}) is True


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_comment_of_a_line_needs_its_end(end: str) -> None:
    parsed = parse_sql(f"a --1 OR b{end}= 1 /* c */ AND b = --1")
    assert parsed.value({"a": "1", "b": "1"}) is True
    assert parsed.value({"a": "2", "b": "1"}) is False
