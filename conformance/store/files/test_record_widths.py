"""Bytes of records at fixed places: lengths, hosts and the checksum, undecoded."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import blocked
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.store_files import BODY_CRC_AT
from conformance.store.workload import Outgoing, Sent
from conformance.store.written_store import Written
from spec.host import Host
from spec.integers import body_crc
from spec.store.message_record import SystemFlag

pytestmark = [pytest.mark.needs("wire", "config"), pytest.mark.restores]

BORN_HOST_AT, STORE_HOST_AT, BODY_SIZE_AT = 48, 64, 84
"""Offsets in a record with two IPv4 hosts."""
V6 = int(SystemFlag.BORN_HOST_V6 | SystemFlag.STORE_HOST_V6)


def raw_records(written: Written) -> list[tuple[Sent, bytes]]:
    """Return sent messages with IPv4 hosts, each with its record.

    The running test is blocked without any such record.
    """
    places = {placed.offset for placed in written.records()}
    found = [
        (sent, written.record_bytes(sent))
        for sent in written.sent
        if sent.commit_log_offset in places and not sent.message.system_flags & V6
    ]
    if not found:
        blocked("blocked by STORE-PUT-007: no record is at an answered offset")
    return found


@pytest.mark.clause("STORE-RECORD-004")
def test_bytes_8_to_12_are_the_checksum_of_the_sent_body(written: Written) -> None:
    pairs = raw_records(written)
    expect(
        "STORE-RECORD-004",
        found=[int.from_bytes(raw[BODY_CRC_AT:12]) for _, raw in pairs],
        expected=[body_crc(sent.message.body) for sent, _ in pairs],
        what="checksums of the records",
    )


@pytest.mark.clause("STORE-RECORD-007")
def test_an_ipv4_host_has_8_bytes(written: Written) -> None:
    stored_by = written.target.admin or written.target.broker
    assert stored_by is not None
    store_host = Host.of(*stored_by)
    for sent, raw in raw_records(written):
        for at, host in (
            (BORN_HOST_AT, Host.of(*sent.from_address)),
            (STORE_HOST_AT, store_host),
        ):
            expect(
                "STORE-RECORD-007",
                found=raw[at : at + 8],
                expected=host.address + host.port.to_bytes(4),
                what=f"bytes {at} to {at + 8} of the record",
            )


@pytest.mark.clause("STORE-RECORD-008", "STORE-RECORD-010")
def test_a_body_follows_4_bytes_of_length_and_a_topic_one(written: Written) -> None:
    for sent, raw in raw_records(written):
        body, topic = sent.message.body, sent.message.topic.encode()
        end = BODY_SIZE_AT + 4 + len(body)
        expect(
            "STORE-RECORD-010",
            found=raw[BODY_SIZE_AT:end],
            expected=len(body).to_bytes(4) + body,
            what="length and body",
        )
        expect(
            "STORE-RECORD-008",
            found=raw[end : end + 1 + len(topic)],
            expected=len(topic).to_bytes(1) + topic,
            what="length and topic",
        )


@pytest.mark.clause("STORE-RECORD-008")
def test_a_topic_of_127_bytes_is_stored(written: Written) -> None:
    topic = create_topic(written.target, unique_name("longest_").ljust(127, "t"))
    sent = written.send(Outgoing(topic=topic, body=b"x"))
    found = written.record_bytes(sent)[BODY_SIZE_AT + 5 :][:128]
    expected = b"\x7f" + topic.encode()
    expect("STORE-RECORD-008", found=found, expected=expected, what="length and topic")


@pytest.mark.clause("STORE-RECORD-009")
def test_properties_of_32767_bytes_are_stored(written: Written) -> None:
    topic = written.topics[0]
    own = {"UNIQ_KEY": "u" * 32, "p": "v"}
    at = BODY_SIZE_AT + 5 + 1 + len(topic)

    def properties(size: int) -> bytes:
        """Return the properties of a record, with the bytes of their length."""
        message = Outgoing(topic=topic, body=b"x", properties={**own, "p": "v" * size})
        return written.record_bytes(written.send(message))[at:]

    others = len(properties(1)) - 2 - 1
    found = properties(32_767 - others)
    expect(
        "STORE-RECORD-009",
        found=(found[:2], len(found) - 2),
        expected=(b"\x7f\xff", 32_767),
        what="bytes of the length, and size of the properties",
    )
