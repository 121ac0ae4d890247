"""Times in options."""

from __future__ import annotations

import pytest

from cli.options.moment import TimeError, time_ms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-22T08:00:00Z", 1_795_334_400_000),
        ("2026-11-22T08:00:00", 1_795_334_400_000),
        ("2026-11-22 09:00:00.250+01:00", 1_795_334_400_250),
        ("2026-11-22", 1_795_305_600_000),
        ("1700000000000", 1_700_000_000_000),
    ],
)
def test_a_time_is_read_as_people_write_it(text: str, expected: int) -> None:
    assert time_ms(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "1.5", "2026-13-01", "٢٠٢٦"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(TimeError, match="is neither a time"):
        time_ms(text)
