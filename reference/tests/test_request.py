"""A plain decimal field is read at once, and is what the long way makes of it."""

from __future__ import annotations

import pytest

from reference.core.request import FieldError, Request
from spec.integers import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN

FIELDS: tuple[object, ...] = (
    "0",
    "12",
    "-1",
    "+5",
    "",
    "x",
    "\uff11\uff12",
    "0" * 25,
    None,
    5,
    True,
)
FIELDS += (str(INT32_MAX), str(INT32_MAX + 1), str(INT64_MAX), str(INT64_MAX + 1))
FIELDS += ("9" * 9, "9" * 10, "9" * 18, "9" * 19)


@pytest.mark.parametrize("value", FIELDS)
def test_a_field_is_the_number_that_the_long_way_finds(value: object) -> None:
    request = Request(310, 1, 0, {"e": value}, b"", "JAVA", 0)
    for read, least, most in (
        (request.int32, INT32_MIN, INT32_MAX),
        (request.int64, INT64_MIN, INT64_MAX),
    ):
        number = request._number("e")
        if number is not None and least <= number <= most:
            assert read("e") == number
        else:
            with pytest.raises(FieldError):
                read("e")


@pytest.mark.parametrize("value", FIELDS)
def test_an_optional_field_is_the_number_that_the_long_way_finds(value: object) -> None:
    request = Request(310, 1, 0, {"e": value}, b"", "JAVA", 0)
    number = request._number("e")
    fits = number is not None and INT32_MIN <= number <= INT32_MAX
    assert request.optional_int32("e", -7) == (number if fits else -7)


@pytest.mark.parametrize("value", ["true", "TRUE", "false", "", "yes", None, True, 1])
def test_a_truth_is_whatever_reads_true(value: object) -> None:
    request = Request(310, 1, 0, {"m": value}, b"", "JAVA", 0)
    assert request.truth("m") is (str(value).lower() == "true")
