"""
Questions about half messages: when they are asked, of whom, how often, and what then.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest

from conformance.harness.speaker import Speaker, now_ms, succeeded
from conformance.harness.verdicts import expect, expect_fields, expect_that
from conformance.messaging.checking import (
    HOUR_MS,
    MOST_QUESTIONS,
    TIMEOUT_MS,
    expect_silence,
    given_up,
    join,
    old,
    place_in_log,
    question,
    renewed_by,
    wait_for_progress,
)
from conformance.messaging.half import Half, send_half
from spec.host import Host
from spec.store.message_record import SystemFlag, decode_record
from spec.wire.command import Command
from spec.wire.message_id import encode_message_id
from spec.wire.properties import decode_properties
from spec.wire.response_code import ResponseCode
from spec.wire.transactions import HALF_TOPIC, Decision

pytestmark = pytest.mark.long


@pytest.mark.clause(
    "TXN-CHECK-001", "TXN-CHECK-002", "TXN-CHECK-003", "TXN-CHECK-006", "TXN-CHECK-007"
)
def test_an_undecided_message_is_asked_about_and_decided(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    half = send_half(asked, place, group=group, queue_id=2, born_at_ms=old())
    first, second = question(asked), question(asked)
    expect("TXN-CHECK-001", found=first.is_oneway, expected=True, what="is oneway")
    for number, found in enumerate((first, second), 1):
        check_renewal(asked, found, half, number=number)
    shown = decode_record(first.body, check_crc=False)
    expect(
        "TXN-CHECK-003",
        found=(shown.topic, shown.queue_id, shown.body),
        expected=(place, 2, b"half"),
        what="topic, queue and body of the record in the question",
        transcript=asked.transcript,
    )
    answer = asked.end_transaction(
        group=group,
        commit_log_offset=int(second.fields["commitLogOffset"]),
        queue_offset=int(second.fields["tranStateTableOffset"]),
        decision=Decision.COMMIT,
        message_id=second.fields["msgId"],
        transaction_id=second.fields["transactionId"],
        from_check=True,
    )
    expect("TXN-CHECK-007", found=answer.code, expected=0, what="code")
    asked.wait_for_max_offset(topic=place, queue_id=2, offset=1)


def check_renewal(speaker: Speaker, found: Command, half: Half, *, number: int) -> None:
    """Check the header of the question of this *number*, and the record it names."""
    record = renewed_by(speaker, found)
    host = Host.of(speaker.address.host, speaker.address.port)
    expect_fields(
        "TXN-CHECK-002",
        found=found.fields,
        expected={
            "tranStateTableOffset": str(record.queue_offset),
            "offsetMsgId": encode_message_id(host, record.physical_offset),
            "msgId": half.unique_key,
            "transactionId": half.unique_key,
        },
        transcript=speaker.transcript,
    )
    times = decode_properties(record.properties).get("TRANSACTION_CHECK_TIMES")
    expect(
        "TXN-CHECK-006",
        found=(record.topic, times, record.queue_offset > half.queue_offset),
        expected=(HALF_TOPIC, str(number), True),
        what="topic, TRANSACTION_CHECK_TIMES, and whether it lies behind the first",
        transcript=speaker.transcript,
    )


@pytest.mark.clause("TXN-CHECK-006")
def test_a_packed_message_stays_packed(asked: Speaker, place: str, group: str) -> None:
    join(asked, group)
    packed, flag = zlib.compress(b"half" * 100), int(SystemFlag.COMPRESSED)
    half = send_half(
        asked, place, group=group, body=packed, system_flags=flag, born_at_ms=old()
    )
    record = renewed_by(asked, question(asked))
    expect(
        "TXN-CHECK-006",
        found=(record.system_flags & flag, record.body),
        expected=(flag, packed),
        what="the flag for packed, and the body, of what is stored once more",
        transcript=asked.transcript,
    )
    half.end(asked, Decision.ROLLBACK)


@pytest.mark.clause("TXN-CHECK-006")
def test_what_is_stored_once_more_is_passed(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    send_half(asked, place, group=group, born_at_ms=old(), body=b"old")
    send_half(asked, place, group=group, body=b"young")
    counted = []
    for _ in range(3):  # the old one before the young one is due, and both thereafter
        record = renewed_by(asked, question(asked))
        times = decode_properties(record.properties)["TRANSACTION_CHECK_TIMES"]
        counted.append((record.body, times))
    expect(
        "TXN-CHECK-006",
        found=sorted(counted),
        expected=[(b"old", "1"), (b"old", "2"), (b"young", "1")],
        what="who was asked about, and TRANSACTION_CHECK_TIMES",
        transcript=asked.transcript,
    )


@pytest.mark.clause("TXN-CHECK-008")
def test_none_of_many_that_are_decided_is_asked_about(
    asked: Speaker, place: str, group: str
) -> None:
    halves = [send_half(asked, place, group=group) for _ in range(20)]
    for half in halves:
        succeeded(half.end(asked, Decision.ROLLBACK))
    join(asked, group)
    wait_for_progress(asked, HALF_TOPIC, halves[-1].queue_offset)
    expect_silence("TXN-CHECK-008", asked, "silence about what is decided")


@pytest.mark.clause("TXN-CHECK-004", "TXN-CHECK-005", "TXN-CHECK-015")
def test_a_young_message_is_left_alone_and_those_behind_it(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    born = now_ms()
    young = send_half(asked, place, group=group, born_at_ms=born, body=b"young")
    send_half(asked, place, group=group, born_at_ms=old(), body=b"old")
    # One pass of the broker asks about both, by threads of a pool: what is before the
    # other is seen by where their records were renewed, not by whose question is first.
    questions = sorted((question(asked), question(asked)), key=place_in_log)
    clauses = (("TXN-CHECK-004", b"young"), ("TXN-CHECK-015", b"old"))
    for found, (clause, body) in zip(questions, clauses, strict=True):
        shown = decode_record(found.body, check_crc=False).body
        expect(clause, found=shown, expected=body, what="who is asked about next")
        waited_ms = renewed_by(asked, found).stored_at_ms - born
        expect_that(
            clause,
            waited_ms >= TIMEOUT_MS,
            found=waited_ms,
            expected=f"{TIMEOUT_MS} or more",
            what="milliseconds from the young one's birth to the question",
            transcript=asked.transcript,
        )
    young.end(asked, Decision.ROLLBACK)


@pytest.mark.clause("TXN-CHECK-005")
@pytest.mark.parametrize("age_ms", [HOUR_MS, -HOUR_MS])
def test_a_producers_clock_is_believed(
    asked: Speaker, place: str, group: str, age_ms: int
) -> None:
    join(asked, group)
    half = send_half(asked, place, group=group, born_at_ms=now_ms() - age_ms)
    first = decode_record(
        succeeded(asked.view_message(commit_log_offset=half.commit_log_offset)).body
    )
    waited_ms = renewed_by(asked, question(asked)).stored_at_ms - first.stored_at_ms
    expect_that(
        "TXN-CHECK-005",
        waited_ms < TIMEOUT_MS,
        found=waited_ms,
        expected=f"less than {TIMEOUT_MS}",
        what="milliseconds from the send to the question",
        transcript=asked.transcript,
    )
    half.end(asked, Decision.ROLLBACK)


@pytest.mark.clause("TXN-CHECK-009")
def test_a_message_is_given_up_after_the_last_question(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    send_half(asked, place, group=group, born_at_ms=old())
    for _ in range(MOST_QUESTIONS):
        question(asked)
    records = given_up(asked, place)
    expect(
        "TXN-CHECK-009",
        found=[one.body for one in records],
        expected=[b"half"],
        what="bodies given up",
        transcript=asked.transcript,
    )
    expect_silence("TXN-CHECK-009", asked, "no further question")


@pytest.mark.clause("TXN-CHECK-010")
def test_a_message_is_dropped_after_the_last_question(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    send_half(asked, place, group=group, born_at_ms=old())
    for _ in range(MOST_QUESTIONS):
        question(asked)
    expect_silence("TXN-CHECK-010", asked, "no further question")


@pytest.mark.clause("TXN-CHECK-011")
def test_a_message_as_old_as_files_is_given_up_unasked(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    send_half(asked, place, group=group, born_at_ms=now_ms() - 73 * HOUR_MS)
    given_up(asked, place)
    expect_silence("TXN-CHECK-011", asked)


@pytest.fixture
def patient(asked: Speaker) -> Iterator[Speaker]:
    """Yield a connection to the eager broker, which gives up on nothing meanwhile."""
    succeeded(asked.update_broker_config({"transactionCheckMax": "1000"}))
    yield asked
    most = {"transactionCheckMax": str(MOST_QUESTIONS)}
    succeeded(asked.update_broker_config(most))


@pytest.mark.clause("TXN-CHECK-012", "TXN-CHECK-013")
def test_a_message_may_ask_for_time(patient: Speaker, place: str, group: str) -> None:
    join(patient, group)
    born, own_ms = now_ms(), TIMEOUT_MS + 1000
    own = {"CHECK_IMMUNITY_TIME_IN_SECONDS": str(own_ms // 1000)}
    half = send_half(patient, place, group=group, born_at_ms=born, properties=own)
    found = question(patient)
    record = renewed_by(patient, found)
    asked_again = int(found.fields["commitLogOffset"]), record.queue_offset
    patient.end_transaction(
        group=group,
        commit_log_offset=asked_again[0],
        queue_offset=asked_again[1],
        decision=Decision.ROLLBACK,
        message_id=half.unique_key,
        from_check=True,
    )
    waited_ms = record.stored_at_ms - born
    expect_that(
        "TXN-CHECK-012",
        waited_ms >= own_ms,
        found=waited_ms,
        expected=f"{own_ms} or more",
        what="milliseconds from its birth to the question",
        transcript=patient.transcript,
    )
    first = decode_properties(record.properties).get("TRAN_PREPARED_QUEUE_OFFSET")
    expect(
        "TXN-CHECK-013",
        found=first,
        expected=str(half.queue_offset),
        what="TRAN_PREPARED_QUEUE_OFFSET",
    )


@pytest.mark.clause("TXN-CHECK-020")
def test_waiting_counts_as_being_asked(asked: Speaker, place: str, group: str) -> None:
    join(asked, group)
    own = {"CHECK_IMMUNITY_TIME_IN_SECONDS": "600"}
    send_half(asked, place, group=group, properties=own)
    given_up(asked, place)
    expect_silence("TXN-CHECK-020", asked)


@pytest.mark.clause("TXN-CHECK-014")
def test_looks_count_when_nobody_is_there(
    asked: Speaker, place: str, group: str
) -> None:
    send_half(asked, place, group=group, born_at_ms=old())
    (record,) = given_up(asked, place)
    expect(
        "TXN-CHECK-014",
        found=decode_properties(record.properties).get("TRANSACTION_CHECK_TIMES"),
        expected=str(MOST_QUESTIONS),
        what="TRANSACTION_CHECK_TIMES of what was given up",
        transcript=asked.transcript,
    )


@pytest.mark.clause("TXN-HALF-004")
def test_a_broker_may_refuse_transactions(
    asked: Speaker, place: str, group: str
) -> None:
    succeeded(asked.update_broker_config({"rejectTransactionMessage": "true"}))
    try:
        refused = asked.send_message(
            topic=place, properties={"TRAN_MSG": "true", "PGROUP": group}
        )
        ordinary = asked.send_message(topic=place)
    finally:
        succeeded(asked.update_broker_config({"rejectTransactionMessage": "false"}))
    expect(
        "TXN-HALF-004",
        found=(refused.code, ordinary.code),
        expected=(ResponseCode.NO_PERMISSION, ResponseCode.SUCCESS),
        what="codes of a half message and of an ordinary one",
        transcript=asked.transcript,
    )
