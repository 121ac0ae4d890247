"""Places at which a failover has cut a log."""

from __future__ import annotations

import pytest

from spec.store.failover import Stretch, cut_place


@pytest.mark.parametrize(
    ("found", "place"),
    [
        ([], None),
        ([3], None),
        ([Stretch(5, 5), 3], None),
        ([Stretch(5, 5), 3, Stretch(4, 4)], 3),
        ([Stretch(5, 5), 3, Stretch(5, 5)], None),
        ([Stretch(5, 9), 3, Stretch(6, 6)], None),
        ([3, Stretch(4, 4)], None),
        # a clock put back at damage
        ([Stretch(5, 5), 3, Stretch(4, 4), Stretch(6, 6)], None),
        ([Stretch(5, 5), 3, Stretch(4, 6)], None),
        # damage, and a cut behind it
        ([Stretch(5, 5), 3, Stretch(7, 7), 8, Stretch(6, 6)], 8),
        ([Stretch(5, 5), 3, Stretch(4, 4), 8, Stretch(2, 2), 9], 3),
        ([Stretch(5, 5), 3, Stretch(4, 4), 8, Stretch(7, 7)], None),
        ([Stretch(5, 5), 3, Stretch(4, 4), 8, Stretch(7, 7), 9, Stretch(2, 2)], 9),
    ],
)
def test_a_failover_cuts_before_older_records(
    found: list[int | Stretch], place: int | None
) -> None:
    assert cut_place(found) == place
