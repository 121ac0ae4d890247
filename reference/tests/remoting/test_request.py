"""Header fields by type: Java's int, long and boolean."""

from __future__ import annotations

import pytest

from reference.core.remoting.request import FieldError, Request

NUMBERS: dict[str, int | None] = {
    "0": 0,
    "12": 12,
    "-1": -1,
    "+5": 5,
    "\uff11\uff12": 12,
    "": None,
    "x": None,
    "1.0": None,
    "2147483647": 2**31 - 1,
    "2147483648": 2**31,
    "-2147483648": -(2**31),
    "-2147483649": -(2**31) - 1,
    "9223372036854775807": 2**63 - 1,
    "9223372036854775808": 2**63,
    "-9223372036854775808": -(2**63),
    "9" * 30: None,
}


def request_with(**fields: str) -> Request:
    """Return a request with these header fields."""
    return Request(310, 1, 0, fields, b"", "JAVA", 0)


@pytest.mark.parametrize("text", NUMBERS)
@pytest.mark.parametrize("bits", [32, 64])
def test_a_number_is_decimal_and_fits_its_type(text: str, bits: int) -> None:
    request, number = request_with(e=text), NUMBERS[text]
    read = request.int32 if bits == 32 else request.int64
    if number is not None and -(1 << bits - 1) <= number < 1 << bits - 1:
        assert read("e") == number
    else:
        with pytest.raises(FieldError):
            read("e")


@pytest.mark.parametrize("text", NUMBERS)
def test_an_optional_number_that_does_not_fit_is_the_default(text: str) -> None:
    number = NUMBERS[text]
    fits = number is not None and -(2**31) <= number < 2**31
    assert request_with(e=text).optional_int32("e", -7) == (number if fits else -7)


def test_a_field_that_is_absent_is_refused_or_the_default() -> None:
    request = request_with()
    assert request.optional_int32("e", -7) == -7
    assert request.optional_text("e") is None
    assert request.text_or_null("e") == "null"
    for read in (request.int32, request.int64, request.text):
        with pytest.raises(FieldError, match="custom field <e> is null"):
            read("e")


@pytest.mark.parametrize("text", ["true", "TRUE", "false", "", "yes", None])
def test_a_boolean_is_true_only_as_the_word_true(text: str | None) -> None:
    request = request_with(m=text) if text is not None else request_with()
    assert request.truth("m") is (text in {"true", "TRUE"})
