"""A slave's reaction to pieces of an impossible size, sent by a scripted master.

Each test has a slave of its own. After a size near 2**31 a slave of 4.6.0 runs out of
memory. Its thread ends, and it follows no master until it is restarted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.targets.target import Capability, Target
from conformance.store.replication.fake_master import SlaveLink
from conformance.store.replication.slave_under_test import (
    LOG_FILE_SIZE,
    TOPIC,
    first_records,
    new_slave,
)
from spec.store.message_record import Record, encode_record

pytestmark = [
    pytest.mark.long,
    pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG),
]


LARGEST_PIECE = 4 * 1024 * 1024 - 12
LARGE_FILE_SIZE = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A slave that got some records on a connection which is open."""

    link: SlaveLink
    end: int
    """Physical end of the slave's log."""


@pytest.fixture
def begun(pytestconfig: pytest.Config, target: Target) -> Iterator[Begun]:
    """Yield a slave of the test's own that has begun to follow."""
    with (
        new_slave(pytestconfig, target) as (_, master),
        closing(master.accept()) as link,
    ):
        assert link.report() == 0
        end = link.send(LOG_FILE_SIZE, first_records())
        link.report_until(end)
        yield Begun(link=link, end=end)


@pytest.mark.clause("HA-TRANSFER-018")
@pytest.mark.parametrize("size", [-1, -(2**31)])
def test_a_slave_takes_no_negative_piece(begun: Begun, size: int) -> None:
    found = ends_after_a_piece(begun, size)
    expect("HA-TRANSFER-018", found=found, expected={begun.end}, what="offsets")


@pytest.mark.clause("HA-TRANSFER-014")
def test_a_slave_takes_no_piece_of_two_gigabytes(begun: Begun) -> None:
    found = ends_after_a_piece(begun, 2**31 - 1)
    expect("HA-TRANSFER-014", found=found, expected={begun.end}, what="offsets")


@pytest.mark.clause("HA-TRANSFER-014")
def test_a_slave_takes_the_largest_piece_and_none_that_is_a_byte_larger(
    pytestconfig: pytest.Config, target: Target
) -> None:
    conf = {"mapedFileSizeCommitLog": str(LARGE_FILE_SIZE)}
    with (
        new_slave(pytestconfig, target, conf) as (_, master),
        closing(master.accept()) as link,
    ):
        assert link.report() == 0
        end = link.send(LARGE_FILE_SIZE, record_of_size(LARGEST_PIECE))
        found = link.reports_in(5.0)[-1:]
        expect("HA-TRANSFER-014", found=found, expected=[end], what="last offset")
        body = bytes(LARGEST_PIECE + 1)
        after = ends_after_a_piece(Begun(link=link, end=end), len(body), body)
        expect("HA-TRANSFER-014", found=after, expected={end}, what="offsets")


def record_of_size(size: int) -> bytes:
    """Return a record of *size* bytes: the first of a file of 8 MiB."""
    made = Record(
        topic=TOPIC, queue_id=0, queue_offset=0, physical_offset=LARGE_FILE_SIZE
    )
    body = bytes(size - len(encode_record(made)))
    return encode_record(replace(made, body=body))


def ends_after_a_piece(begun: Begun, size: int, body: bytes = bytes(64)) -> set[int]:
    """Return the ends that the slave reports after a piece with this *size*."""
    head = begun.end.to_bytes(8, "big", signed=True)
    with suppress(ConnectionError):  # the slave may hang up on the size alone
        begun.link.send_bytes(head + size.to_bytes(4, "big", signed=True) + body)
    return {begun.end, *begun.link.reports_in(2.0)}
