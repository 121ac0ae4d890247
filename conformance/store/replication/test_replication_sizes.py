"""A slave's reaction to pieces of an impossible size, sent by a scripted master.

Each test has a slave of its own. After a size near 2**31 a slave of 4.6.0 runs out of
memory. Its thread ends, and it follows no master until it is restarted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.targets.target import Capability, Target
from conformance.store.replication.fake_master import SlaveLink
from conformance.store.replication.slave_under_test import (
    LOG_FILE_SIZE,
    first_records,
    new_slave,
)
from spec.wire.ha.replication_rules import SLAVE_BUFFER_SIZE

pytestmark = [
    pytest.mark.long,
    pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG),
]


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
@pytest.mark.parametrize("size", [SLAVE_BUFFER_SIZE, 2**31 - 1])
def test_a_slave_takes_no_piece_beyond_its_buffer(begun: Begun, size: int) -> None:
    found = ends_after_a_piece(begun, size)
    expect("HA-TRANSFER-014", found=found, expected={begun.end}, what="offsets")


def ends_after_a_piece(begun: Begun, size: int) -> set[int]:
    """Return the ends that the slave reports after a piece with this *size*."""
    head = begun.end.to_bytes(8, "big", signed=True)
    begun.link.send_bytes(head + size.to_bytes(4, "big", signed=True) + bytes(64))
    return {begun.end, *begun.link.reports_in(2.0)}
