"""Replication from a master: a scripted slave reads what it sends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import another_target, need, unique_name
from conformance.harness.targets.target import Capability, Target
from conformance.store.replication.fake_slave import FakeSlave
from spec.store.file_names import COMMIT_LOG
from spec.wire.ha.replication import Piece
from spec.wire.message.message_id import decode_message_id

LOG_FILE_SIZE = 64 * 1024
PIECE_SIZE = 512
SETTINGS = {
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    "maxMessageSize": str(16 * 1024),
    "haTransferBatchSize": str(PIECE_SIZE),
    "haSendHeartbeatInterval": "300",
    "haHousekeepingInterval": "4000",
}
pytestmark = [
    pytest.mark.long,
    pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG),
]


@pytest.fixture(scope="module")
def master(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Return a master with a commit log of two files."""
    need(target, Capability.REPLICATION, Capability.CONFIG, Capability.STORE)
    with another_target(pytestconfig, SETTINGS) as own:
        with own.connect_to_broker() as broker:
            fill(broker)
        yield own


@pytest.fixture
def slave(master: Target) -> Iterator[FakeSlave]:
    """Return a connection to the master's port for slaves."""
    with closing(FakeSlave(master)) as one:
        yield one


def fill(broker: Client) -> None:
    """Send messages until the commit log is in its second file."""
    topic = unique_name("replicated")
    require_success(broker.create_topic(topic=topic, queue_count=1))
    end = 0
    while end < LOG_FILE_SIZE + 3 * PIECE_SIZE:
        # Stored is enough: tests below compare the states that depend on slaves.
        answer = broker.send_message(topic=topic, body=bytes(900))
        _, end = decode_message_id(answer.fields["msgId"])


@pytest.mark.clause("HA-TRANSFER-001")
def test_a_master_waits_for_its_slave_to_speak(slave: FakeSlave) -> None:
    found = slave.pieces_in(1.5)
    expect("HA-TRANSFER-001", found=found, expected=[], what="sent at once")


@pytest.mark.clause("HA-TRANSFER-002", "HA-TRANSFER-003", "HA-TRANSFER-005")
def test_a_slave_is_sent_the_log_from_where_its_own_ends(
    master: Target, slave: FakeSlave
) -> None:
    begin = 1000
    slave.report_ends(begin)
    sent = [piece for piece in slave.pieces() if piece.data]
    offset = begin
    for piece in sent:
        expect("HA-TRANSFER-003", found=piece.offset, expected=offset, what="offset")
        offset = piece.end_offset
    largest = max(len(piece.data) for piece in sent)
    within = largest <= PIECE_SIZE
    expect("HA-TRANSFER-005", found=within, expected=True, what=f"{largest} bytes fit")
    assert master.store_path is not None
    folder = master.store_path / COMMIT_LOG
    log = b"".join(file.read_bytes() for file in sorted(folder.iterdir()))
    expect(
        "HA-TRANSFER-002",
        found=b"".join(piece.data for piece in sent) == log[begin:offset],
        expected=True,
        what="the bytes are those of the commit log",
    )


@pytest.mark.clause("HA-TRANSFER-004")
def test_a_slave_without_a_log_is_sent_the_last_file(slave: FakeSlave) -> None:
    slave.report_ends(0)
    first = slave.pieces()[0]
    expect("HA-TRANSFER-004", found=first.offset, expected=LOG_FILE_SIZE, what="offset")


@pytest.mark.clause("HA-TRANSFER-006")
def test_a_master_with_nothing_to_send_gives_a_sign_of_life(
    slave: FakeSlave,
) -> None:
    slave.report_ends(LOG_FILE_SIZE)
    last = slave.pieces()[-1]
    expect("HA-TRANSFER-006", found=last.data, expected=b"", what="bytes after the end")


@pytest.mark.clause("HA-TRANSFER-007")
def test_the_last_offset_that_a_slave_sent_counts(slave: FakeSlave) -> None:
    wanted = LOG_FILE_SIZE + PIECE_SIZE
    slave.report_ends(LOG_FILE_SIZE, wanted)
    first = slave.pieces()[0]
    expect("HA-TRANSFER-007", found=first.offset, expected=wanted, what="offset")


@pytest.mark.clause("HA-TRANSFER-008")
def test_a_silent_slave_is_hung_up_on(slave: FakeSlave) -> None:
    slave.report_ends(LOG_FILE_SIZE)
    expect(
        "HA-TRANSFER-008", found=slave.is_hung_up_on(), expected=True, what="hung up"
    )


@pytest.mark.clause("HA-TRANSFER-011")
def test_a_slave_that_is_ahead_is_sent_signs_of_life(slave: FakeSlave) -> None:
    ahead = 8 * LOG_FILE_SIZE
    slave.report_ends(ahead)
    found = {slave.piece() for _ in range(2)}
    expected = {Piece(offset=ahead)}
    expect("HA-TRANSFER-011", found=found, expected=expected, what="pieces")


@pytest.mark.clause("HA-WAIT-004")
def test_a_master_that_does_not_wait_answers_at_once(
    master: Target, slave: FakeSlave
) -> None:
    slave.report_ends(LOG_FILE_SIZE)
    slave.piece()
    with master.connect_to_broker() as broker:
        answer = broker.send_message(topic=unique_name("unwaited"), body=b"at once")
    expect("HA-WAIT-004", found=answer.code, expected=0, what="code")


@pytest.mark.clause("HA-TRANSFER-012")
@pytest.mark.parametrize("offset", [-1, -(2**63)])
def test_a_negative_offset_gets_nothing(slave: FakeSlave, offset: int) -> None:
    slave.report_ends(offset)
    found = b"".join(piece.data for piece in slave.pieces_in(1.5))
    expect("HA-TRANSFER-012", found=found, expected=b"", what="bytes of the log")
