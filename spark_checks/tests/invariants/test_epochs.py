"""Wrong numbers in the file of epochs are found."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spark_checks.findings import Finding, Severity
from spark_checks.invariants.epochs import check_epochs
from spark_checks.store_files import list_store
from spark_checks.tests.building import SUMMARY
from spark_checks.tests.fields.field_table import Wrong, field_table
from spec.integers import INT64_MAX
from spec.store.epoch_file import EPOCH_FILE, Epoch, decode_epochs, encode_epochs

FAILOVER = Path(__file__).parents[3] / "fixtures" / "failovers" / "5.3.3"
RIGHT = (FAILOVER / EPOCH_FILE).read_bytes()
NUMBERS = {"count": [0], "checksum": [1], "number": [2, 4], "begin": [3, 5]}
"""Places of each field's numbers in the text."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a copy of the recorded store."""
    return shutil.copytree(FAILOVER, tmp_path / "store")


def findings(root: Path, data: bytes, *, end: int = 11_084) -> list[Finding]:
    """Return the findings in the file of epochs with the content *data*."""
    (root / EPOCH_FILE).write_bytes(data)
    summary = replace(SUMMARY, log_end=end)
    return list(check_epochs(list_store(str(root)), summary))


def wrong_files(field: str, wrong: Wrong) -> Iterator[bytes]:
    """Yield the file with a wrong value of *field* at each of its places."""
    numbers = RIGHT.replace(b"-", b"\n").split()
    places = NUMBERS[field.rpartition(".")[2]]
    for place in places:
        values = {
            Wrong.ZERO: 0,
            Wrong.MAXIMUM: INT64_MAX,
            Wrong.NEGATIVE: -1,
            Wrong.PLUS_ONE: int(numbers[place]) + 1,
            Wrong.NEIGHBOUR: int(numbers[places[0] + places[-1] - place]),
        }
        if values[wrong] != int(numbers[place]):
            texts = [*numbers]
            texts[place] = b"%d" % values[wrong]
            count, checksum, *epochs = texts
            lines = map(b"-".join, zip(epochs[::2], epochs[1::2], strict=True))
            yield b"\n".join([count, checksum, *lines, b""])


@pytest.mark.parametrize("field", field_table()[EPOCH_FILE])
@pytest.mark.parametrize("wrong", Wrong)
def test_wrong_values_are_found_as_the_table_has_it(
    root: Path, field: str, wrong: Wrong
) -> None:
    assert findings(root, RIGHT) == []
    expected = list(field_table()[EPOCH_FILE][field].outcome(wrong).findings)
    for data in wrong_files(field, wrong):
        found = findings(root, data)
        assert [one.invariant.id for one in found] == expected, data
        assert [(one.file, one.offset) for one in found] == [(EPOCH_FILE, 0)] * len(
            expected
        )


@pytest.mark.parametrize("second", [Epoch(1, 7), Epoch(2, 0), Epoch(0, 7)])
def test_epochs_grow_in_number_and_begin(root: Path, second: Epoch) -> None:
    # The texts of two wrong lines are in right ones, too.
    data = encode_epochs([Epoch(1, 0), second, Epoch(10, 70), Epoch(11, 700)])
    (found,) = findings(root, data)
    line = data.index(f"\n{second.number}-{second.begin}\n".encode()) + 1
    assert (found.invariant.id, found.offset, found.length) == (
        "INV-EPOCH-001",
        line,
        3,
    )
    assert found.severity is Severity.ERROR


def test_no_epoch_is_an_error(root: Path) -> None:
    (found,) = findings(root, encode_epochs([]))
    assert found.message == f"{EPOCH_FILE} has no epoch."


def test_the_last_epoch_begins_within_the_log(root: Path) -> None:
    (_, last) = decode_epochs(RIGHT)
    assert findings(root, RIGHT, end=last.begin) == []
    (found,) = findings(root, RIGHT, end=last.begin - 1)
    assert (found.invariant.id, found.offset) == ("INV-EPOCH-002", RIGHT.index(b"5-"))
    assert found.settled(is_open=True).severity is Severity.WARNING
