"""The file of epochs is read as Java reads it."""

from __future__ import annotations

import pytest

from spec.integers import INT32_MAX, INT64_MAX
from spec.store.epoch_file import (
    Epoch,
    EpochFileError,
    EpochNumberError,
    decode_epochs,
    encode_epochs,
)

OF_A_BROKER = b"2\n703608448\n1-0\n5-10460\n"
"""Written by a broker of 5.3.3."""


def test_the_file_of_a_broker_is_read_and_written() -> None:
    epochs = [Epoch(1, 0), Epoch(5, 10460)]
    assert decode_epochs(OF_A_BROKER) == epochs
    assert encode_epochs(epochs) == OF_A_BROKER


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_lines_may_end_as_on_other_systems(end: bytes) -> None:
    assert decode_epochs(OF_A_BROKER.replace(b"\n", end)) == [(1, 0), (5, 10460)]


@pytest.mark.parametrize(
    ("data", "epochs"),
    [
        (b"0\n0\n", []),
        (b"1\n0\n+1-7", [(1, 7)]),
        (b"1\n0\n1-7-", [(1, 7)]),
        (b"1\n0\n2147483647-9223372036854775807\n", [(INT32_MAX, INT64_MAX)]),
        (b"1\n0\nline\n1-2-3\n\n1-7\n", [(1, 7)]),
    ],
)
def test_epochs_have_two_numbers_and_other_lines_are_none(
    data: bytes, epochs: list[tuple[int, int]]
) -> None:
    assert decode_epochs(data) == epochs


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"2",
        bytes(24),
        b"x" + OF_A_BROKER,
        b"1\n-\n1-0\n",
        b"1\n0\na-0\n",
        b"1\n0\n1-b\n",
        b"1\n0\n2147483648-0\n",
        b"1\n0\n1-9223372036854775808\n",
    ],
)
def test_a_number_that_is_none_is_an_error_of_its_own(data: bytes) -> None:
    with pytest.raises(EpochNumberError):
        decode_epochs(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (OF_A_BROKER[:-2], "the CRC-32 703608448, not "),
        (OF_A_BROKER.replace(b"2\n", b"3\n", 1), "the number 3 for 2 epochs"),
        (b"\xff", "bytes that are not UTF-8"),
    ],
)
def test_a_file_that_disagrees_with_itself_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(EpochFileError, match=reason) as caught:
        decode_epochs(data)
    assert not isinstance(caught.value, EpochNumberError)
