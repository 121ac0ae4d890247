"""Hostile names and numbers in configuration files end no audit."""

from __future__ import annotations

import pytest

from spark_checks.config_files import (
    ConfigFile,
    is_number,
    numbers_of,
    offsets_in,
    place_of,
)
from spec.wire.bodies import fastjson

ESCAPED = rb'{"offsetTable":{"T\ud800@g":{"0":7,"\udfff":8}}}'


def test_names_of_half_a_surrogate_pair_have_a_place() -> None:
    file = ConfigFile(path="p", data=ESCAPED, value=fastjson.loads(ESCAPED))
    places = [one.place for one in offsets_in(file)]
    assert [path for path, _ in places] == ["p", "p"]
    (begin, length), _ = (place for _, place in places)
    assert ESCAPED[begin : begin + length] == b"7"


def test_a_name_as_utf_8_is_found() -> None:
    data = '{"a":{"0":1},"é@g":{"0":7}}'.encode()
    assert data[place_of(data, "é@g", "0")] == ord("7")


@pytest.mark.parametrize("digits", [20, 5_000])
def test_a_key_of_too_many_digits_is_no_number(digits: int) -> None:
    assert not is_number("9" * digits)
    assert numbers_of({"9" * digits: 1, "3": 2, "x": 3}) == {3: 2}
