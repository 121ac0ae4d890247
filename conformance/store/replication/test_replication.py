"""Replication from a master: a scripted slave reads what it sends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.target import Capability, Target
from conformance.store.replication.fake_slave import FakeSlave
from conformance.store.replication.masters import PIECE_SIZE, Master, a_master
from spec.wire.ha.replication import Piece

pytestmark = [
    pytest.mark.long,
    pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG),
    pytest.mark.settings(enableControllerMode="false"),  # It has another protocol.
    pytest.mark.restores,
]


@pytest.fixture(scope="module")
def master(pytestconfig: pytest.Config, target: Target) -> Iterator[Master]:
    """Yield a master with a commit log of two files, or the running cluster's."""
    yield from a_master(pytestconfig, target)


@pytest.fixture
def slave(master: Master) -> Iterator[FakeSlave]:
    """Return a connection to the master's port for slaves."""
    with closing(FakeSlave(master.target)) as one:
        yield one


@pytest.mark.clause("HA-TRANSFER-001")
def test_a_master_waits_for_its_slave_to_speak(slave: FakeSlave) -> None:
    found = slave.pieces_in(1.5)
    expect("HA-TRANSFER-001", found=found, expected=[], what="sent at once")


@pytest.mark.clause("HA-TRANSFER-002", "HA-TRANSFER-003", "HA-TRANSFER-005")
def test_a_slave_is_sent_the_log_from_where_its_own_ends(
    master: Master, slave: FakeSlave
) -> None:
    slave.report_ends(master.early)
    sent = [piece for piece in slave.pieces() if piece.data]
    offset = master.early
    for piece in sent:
        expect("HA-TRANSFER-003", found=piece.offset, expected=offset, what="offset")
        offset = piece.end_offset
    largest = max(len(piece.data) for piece in sent)
    within = largest <= PIECE_SIZE
    expect("HA-TRANSFER-005", found=within, expected=True, what=f"{largest} bytes fit")
    log = b"".join(piece.data for piece in sent)
    for begin, known in master.known(offset):
        place = begin - master.early
        expect(
            "HA-TRANSFER-002",
            found=log[place : place + len(known)] == known,
            expected=True,
            what=f"the bytes from {begin} on are those of the commit log",
        )


@pytest.mark.clause("HA-TRANSFER-004")
def test_a_slave_without_a_log_is_sent_the_last_file(
    master: Master, slave: FakeSlave
) -> None:
    slave.report_ends(0)
    found, expected = slave.piece().offset, master.last_file
    expect("HA-TRANSFER-004", found=found, expected=expected, what="offset")


@pytest.mark.clause("HA-TRANSFER-006")
def test_a_master_with_nothing_to_send_gives_a_sign_of_life(
    master: Master, slave: FakeSlave
) -> None:
    slave.report_ends(master.late)
    last = slave.pieces()[-1]
    expect("HA-TRANSFER-006", found=last.data, expected=b"", what="bytes after the end")


@pytest.mark.clause("HA-TRANSFER-007")
def test_the_last_offset_that_a_slave_sent_counts(
    master: Master, slave: FakeSlave
) -> None:
    wanted = master.late + PIECE_SIZE
    slave.report_ends(master.late, wanted)
    first = slave.pieces()[0]
    expect("HA-TRANSFER-007", found=first.offset, expected=wanted, what="offset")


@pytest.mark.clause("HA-TRANSFER-008")
def test_a_silent_slave_is_hung_up_on(master: Master, slave: FakeSlave) -> None:
    slave.report_ends(master.late)
    expect(
        "HA-TRANSFER-008", found=slave.is_hung_up_on(), expected=True, what="hung up"
    )


@pytest.mark.clause("HA-TRANSFER-011")
def test_a_slave_that_is_ahead_is_sent_signs_of_life(
    master: Master, slave: FakeSlave
) -> None:
    ahead = master.late + 8 * master.file_size
    slave.report_ends(ahead)
    found = {slave.piece() for _ in range(2)}
    expected = {Piece(offset=ahead)}
    expect("HA-TRANSFER-011", found=found, expected=expected, what="pieces")


@pytest.mark.clause("HA-WAIT-004")
def test_a_master_that_does_not_wait_answers_at_once(
    master: Master, slave: FakeSlave
) -> None:
    slave.report_ends(master.late)
    slave.piece()
    with master.target.connect_to_broker() as broker:
        response = broker.send_message(topic=unique_name("unwaited"), body=b"at once")
    expect("HA-WAIT-004", found=response.code, expected=0, what="code")


@pytest.mark.clause("HA-TRANSFER-012")
@pytest.mark.parametrize("offset", [-1, -(2**63)])
def test_a_negative_offset_gets_nothing(slave: FakeSlave, offset: int) -> None:
    slave.report_ends(offset)
    found = b"".join(piece.data for piece in slave.pieces_in(1.5))
    expect("HA-TRANSFER-012", found=found, expected=b"", what="bytes of the log")
