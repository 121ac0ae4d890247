"""What a master sends to a slave: a script that plays the slave reads it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import OPTIONS, need, unique_name
from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import Capability, Target, parse_target
from conformance.harness.verdicts import expect
from spec.store.file_names import COMMIT_LOG
from spec.wire.message_id import decode_message_id
from spec.wire.replication import (
    PORT_DISTANCE,
    Piece,
    decode_piece,
    encode_slave_offset,
    size_of_piece,
)

LOG_FILE_SIZE = 64 * 1024
PIECE_SIZE = 512
SETTINGS = {
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    "maxMessageSize": str(16 * 1024),
    "haTransferBatchSize": str(PIECE_SIZE),
    "haSendHeartbeatInterval": "300",
    "haHousekeepingInterval": "4000",
}
pytestmark = pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG)


@pytest.fixture(scope="module")
def master(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Return a master with a commit log of two files."""
    need(target, Capability.REPLICATION, Capability.CONFIG, Capability.STORE)
    options = pytestconfig.stash[OPTIONS]
    with parse_target(options.target, profile=options.profile, conf=SETTINGS) as own:
        with own.speak_to_broker() as broker:
            fill(broker)
        yield own


@pytest.fixture
def slave(master: Target) -> Iterator[socket.socket]:
    """Return a connection to the master's port for slaves."""
    assert master.broker is not None
    address = (master.broker.host, master.broker.port + PORT_DISTANCE)
    with closing(socket.create_connection(address, 10)) as connection:
        connection.settimeout(10)
        yield connection


def fill(broker: Speaker) -> None:
    """Send messages until the commit log is in its second file."""
    topic = unique_name("replicated")
    succeeded(broker.create_topic(topic=topic, queue_count=1))
    end = 0
    while end < LOG_FILE_SIZE + 3 * PIECE_SIZE:
        answer = succeeded(broker.send_message(topic=topic, body=bytes(900)))
        _, end = decode_message_id(answer.fields["msgId"])


def pieces(slave: socket.socket) -> list[Piece]:
    """Return what the master sends, up to the first sign of life after a piece."""
    found: list[Piece] = []
    waiting = b""
    while not found or found[-1].data or len(found) == 1:
        while (size := size_of_piece(waiting)) is None or size > len(waiting):
            received = slave.recv(65_536)
            assert received, "the master closed the connection"
            waiting += received
        found.append(decode_piece(waiting[:size]))
        waiting = waiting[size:]
        slave.sendall(encode_slave_offset(found[-1].end_offset))
    return found


@pytest.mark.clause("HA-TRANSFER-001")
def test_a_master_waits_for_its_slave_to_speak(slave: socket.socket) -> None:
    slave.settimeout(1.5)
    try:
        found = slave.recv(1)
    except TimeoutError:
        found = b"silence"
    expect("HA-TRANSFER-001", found=found, expected=b"silence", what="sent at once")


@pytest.mark.clause("HA-TRANSFER-002", "HA-TRANSFER-003", "HA-TRANSFER-005")
def test_a_slave_is_sent_the_log_from_where_its_own_ends(
    master: Target, slave: socket.socket
) -> None:
    begin = 1000
    slave.sendall(encode_slave_offset(begin))
    sent = [piece for piece in pieces(slave) if piece.data]
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
def test_a_slave_without_a_log_is_sent_the_last_file(slave: socket.socket) -> None:
    slave.sendall(encode_slave_offset(0))
    first = pieces(slave)[0]
    expect("HA-TRANSFER-004", found=first.offset, expected=LOG_FILE_SIZE, what="offset")


@pytest.mark.clause("HA-TRANSFER-006")
def test_a_master_with_nothing_to_send_gives_a_sign_of_life(
    slave: socket.socket,
) -> None:
    slave.sendall(encode_slave_offset(LOG_FILE_SIZE))
    last = pieces(slave)[-1]
    expect("HA-TRANSFER-006", found=last.data, expected=b"", what="bytes after the end")


@pytest.mark.clause("HA-TRANSFER-007")
def test_the_last_offset_that_a_slave_sent_counts(slave: socket.socket) -> None:
    wanted = LOG_FILE_SIZE + PIECE_SIZE
    slave.sendall(encode_slave_offset(LOG_FILE_SIZE) + encode_slave_offset(wanted))
    first = pieces(slave)[0]
    expect("HA-TRANSFER-007", found=first.offset, expected=wanted, what="offset")


@pytest.mark.clause("HA-TRANSFER-008")
def test_a_silent_slave_is_hung_up_on(slave: socket.socket) -> None:
    slave.sendall(encode_slave_offset(LOG_FILE_SIZE))
    is_open = True

    def hung_up() -> bool:
        nonlocal is_open
        is_open = is_open and bool(slave.recv(65_536))
        return not is_open

    wait_until(hung_up, what="the master hung up on a silent slave", timeout_s=20)
    expect("HA-TRANSFER-008", found=is_open, expected=False, what="still connected")
