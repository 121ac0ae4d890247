"""
Questions about half messages: when they are asked, of whom, how often, and what then.

The broker under test looks every half second and gives up after three questions, so
that nobody has to wait; a half message that claims to be old is asked about at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import OPTIONS, create_topic, need
from conformance.harness.live import LiveTarget
from conformance.harness.speaker import Speaker, now_ms, succeeded
from conformance.harness.target import Capability, Target, parse_target
from conformance.harness.verdicts import expect, expect_fields, expect_that
from conformance.messaging.half import Half, send_half
from conformance.messaging.reading import records_of
from spec.host import Host
from spec.store.message_record import Record, decode_record
from spec.wire.command import Command
from spec.wire.message_id import encode_message_id
from spec.wire.properties import decode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.transactions import (
    CHECK_GROUP,
    DONE_TAG,
    GIVEN_UP_TOPIC,
    HALF_TOPIC,
    OPERATIONS_TOPIC,
    Decision,
)

TIMEOUT_MS = 3000
MOST_QUESTIONS = 3
EAGER = {
    "transactionCheckInterval": "500",
    "transactionTimeOut": str(TIMEOUT_MS),
    "transactionCheckMax": str(MOST_QUESTIONS),
    "transactionOpBatchInterval": "200",
}
HOUR_MS = 3_600_000
PATIENCE_S = 30.0
QUIET_S = 1.0


@pytest.fixture(scope="module")
def eager(pytestconfig: pytest.Config, target: LiveTarget) -> Iterator[Target]:
    """Yield a target of this module's own whose broker asks often."""
    need(target, Capability.WIRE, Capability.CONFIG)
    options = pytestconfig.stash[OPTIONS]
    with parse_target(options.target, profile=options.profile, conf=EAGER) as own:
        yield own


@pytest.fixture
def asked(eager: Target) -> Iterator[Speaker]:
    """Yield a connection to the eager broker."""
    with eager.speak_to_broker() as speaker:
        yield speaker


@pytest.fixture
def place(eager: Target, unique: Callable[[str], str]) -> str:
    """Return a new topic of the eager broker."""
    return create_topic(eager, unique("topic"))


def join(speaker: Speaker, group: str) -> None:
    """Become a client of a producer group."""
    succeeded(speaker.heartbeat(client_id=f"c_{group}", producer_groups=[group]))


def question(speaker: Speaker) -> Command:
    """Return the next question that the broker asks us."""
    return speaker.peer.receive_request(
        RequestCode.CHECK_TRANSACTION_STATE, timeout_s=PATIENCE_S
    )


def old() -> int:
    """Return a born time that is long past, and not too long."""
    return now_ms() - HOUR_MS


def renewed_by(speaker: Speaker, asked_about: Command) -> Record:
    """Return the record that a question names."""
    place = int(asked_about.fields["commitLogOffset"])
    return decode_record(succeeded(speaker.view_message(commit_log_offset=place)).body)


def records_in(speaker: Speaker, topic: str) -> list[Record]:
    """Return all messages of queue 0 of *topic*; none while there is no such topic."""
    found: list[Record] = []
    while True:
        answer = speaker.pull(topic=topic, offset=len(found))
        if answer.code != ResponseCode.SUCCESS:
            return found
        found += records_of(answer)


def notes_about(speaker: Speaker, half: Half) -> list[Record]:
    """Return the notes that name a half message.

    They are looked for in the commit log: before 5.0 nobody can pull their topic.
    """
    number = str(half.queue_offset)
    return [
        record
        for record in records_from(speaker, half.commit_log_offset)
        if record.topic == OPERATIONS_TOPIC
        and number in record.body.decode().split(",")
    ]


def records_from(speaker: Speaker, offset: int) -> Iterator[Record]:
    """Yield the records of the commit log from the one at *offset* on."""
    while True:
        answer = speaker.view_message(commit_log_offset=offset)
        if answer.code != ResponseCode.SUCCESS:
            return
        yield decode_record(answer.body, check_crc=False)
        offset += len(answer.body)


def wait_for_note(speaker: Speaker, half: Half) -> Record:
    """Wait until the decision on a half message is noted; return the note."""
    wait_until(
        lambda: bool(notes_about(speaker, half)),
        what="the decision is noted",
        timeout_s=PATIENCE_S,
    )
    return notes_about(speaker, half)[0]


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


@pytest.mark.clause("TXN-CHECK-004", "TXN-CHECK-005", "TXN-CHECK-015")
def test_a_young_message_is_left_alone_and_those_behind_it(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    born = now_ms()
    young = send_half(asked, place, group=group, born_at_ms=born, body=b"young")
    send_half(asked, place, group=group, born_at_ms=old(), body=b"old")
    for clause, body in (("TXN-CHECK-004", b"young"), ("TXN-CHECK-015", b"old")):
        found = question(asked)
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


@pytest.mark.clause("TXN-NOTE-001", "TXN-CHECK-008", "TXN-CHECK-016")
@pytest.mark.parametrize("decision", [Decision.COMMIT, Decision.ROLLBACK])
def test_a_decision_is_noted_and_not_asked_for(
    asked: Speaker, place: str, group: str, decision: Decision
) -> None:
    half = send_half(asked, place, group=group, born_at_ms=old())
    succeeded(half.end(asked, decision))
    note = wait_for_note(asked, half)
    expect(
        "TXN-NOTE-001",
        found=(note.queue_id, decode_properties(note.properties).get("TAGS")),
        expected=(0, DONE_TAG),
        what="queue and tag of the note",
        transcript=asked.transcript,
    )
    join(asked, group)
    expect(
        "TXN-CHECK-008",
        found=asked.peer.is_silent(QUIET_S),
        expected=True,
        what="silence once the decision is noted",
        transcript=asked.transcript,
    )
    wait_for_progress(asked, HALF_TOPIC, half.queue_offset)
    wait_for_progress(asked, OPERATIONS_TOPIC, 0)


def wait_for_progress(speaker: Speaker, topic: str, offset: int) -> None:
    """Wait until the broker says that it has looked past *offset* in *topic*."""
    wait_until(
        lambda: progress(speaker, topic) > offset,
        what=f"{CHECK_GROUP} is past {offset} in {topic}",
        timeout_s=PATIENCE_S,
    )


def progress(speaker: Speaker, topic: str) -> int:
    """Return how far the broker says that it has looked in *topic*."""
    answer = speaker.query_offset(group=CHECK_GROUP, topic=topic, queue_id=0)
    return int(answer.fields.get("offset", -1))


@pytest.mark.clause("TXN-NOTE-002")
def test_a_note_is_a_number(asked: Speaker, place: str, group: str) -> None:
    half = send_half(asked, place, group=group)
    succeeded(half.end(asked))
    expect(
        "TXN-NOTE-002",
        found=wait_for_note(asked, half).body,
        expected=b"%d" % half.queue_offset,
        what="body of the note",
    )


@pytest.mark.clause("TXN-NOTE-003")
def test_a_note_is_numbers_with_commas(asked: Speaker, place: str, group: str) -> None:
    half = send_half(asked, place, group=group)
    succeeded(half.end(asked))
    body = wait_for_note(asked, half).body.decode()
    numbers = [number.isdecimal() for number in body.split(",")[:-1]]
    expect_that(
        "TXN-NOTE-003",
        body.endswith(",") and all(numbers),
        found=body,
        expected="numbers with a comma after each",
        what="body of the note",
    )


def given_up(speaker: Speaker, topic: str) -> list[Record]:
    """Wait for messages for *topic* among those given up, and return them."""

    def found() -> list[Record]:
        records = records_in(speaker, GIVEN_UP_TOPIC)
        return [one for one in records if f"REAL_TOPIC\x01{topic}" in one.properties]

    wait_until(lambda: bool(found()), what="it is given up", timeout_s=PATIENCE_S)
    return found()


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
        found=([one.body for one in records], asked.peer.is_silent(QUIET_S)),
        expected=([b"half"], True),
        what="bodies given up, and no further question",
        transcript=asked.transcript,
    )


@pytest.mark.clause("TXN-CHECK-010")
def test_a_message_is_dropped_after_the_last_question(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    send_half(asked, place, group=group, born_at_ms=old())
    for _ in range(MOST_QUESTIONS):
        question(asked)
    expect(
        "TXN-CHECK-010",
        found=asked.peer.is_silent(QUIET_S),
        expected=True,
        what="no further question",
        transcript=asked.transcript,
    )


@pytest.mark.clause("TXN-CHECK-011")
def test_a_message_as_old_as_files_is_given_up_unasked(
    asked: Speaker, place: str, group: str
) -> None:
    join(asked, group)
    send_half(asked, place, group=group, born_at_ms=now_ms() - 73 * HOUR_MS)
    given_up(asked, place)
    expect(
        "TXN-CHECK-011",
        found=asked.peer.is_silent(QUIET_S),
        expected=True,
        what="no question",
        transcript=asked.transcript,
    )


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
    expect(
        "TXN-CHECK-020",
        found=asked.peer.is_silent(QUIET_S),
        expected=True,
        what="no question",
        transcript=asked.transcript,
    )


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
