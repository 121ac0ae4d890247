"""
Check requests for half messages: their time, receiver, number and consequences.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import pytest

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.failure.failure import record_evidence
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.transactions.half import Half, send_half
from conformance.messaging.transactions.transaction_checks import (
    HOUR_MS,
    MOST_QUESTIONS,
    TIMEOUT_MS,
    expect_progress,
    expect_silence,
    join,
    old,
    place_in_log,
    question,
    renewed_by,
)
from spec.host import Host
from spec.store.message_record import (
    Record,
    SystemFlag,
    decode_record,
    size_of_record,
)
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import HALF_TOPIC
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

pytestmark = pytest.mark.long

OF_THE_MESSAGE = (
    *("body", "system_flags", "born_at_ms", "born_host", "store_host"),
    *("queue_offset", "physical_offset", "prepared_transaction_offset"),
)
"""Fields that a record in a check request has in common with the renewed one."""
OF_THE_ONE_BEFORE = ("flag", "reconsume_times", "stored_at_ms")
"""Fields that it has in common with the half message before it was renewed."""


@pytest.mark.clause(
    "TXN-CHECK-001", "TXN-CHECK-002", "TXN-CHECK-003", "TXN-CHECK-006", "TXN-CHECK-007"
)
def test_an_undecided_message_is_asked_about_and_decided(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    join(checking_broker, group)
    half = send_half(
        checking_broker, checked_topic, group=group, queue_id=2, born_at_ms=old()
    )
    first, second = question(checking_broker), question(checking_broker)
    expect(
        "TXN-CHECK-001",
        found=first.is_oneway,
        expected=True,
        what="is oneway",
        transcript=checking_broker.transcript,
    )
    for number, found in enumerate((first, second), 1):
        check_renewal(checking_broker, found, half, number=number)
    for found in (first, second):
        shown = check_shown(checking_broker, found)
        expect(
            "TXN-CHECK-003",
            found=(shown.topic, shown.queue_id, shown.body),
            expected=(checked_topic, 2, b"half"),
            what="topic, queue and body of the record in the question",
            transcript=checking_broker.transcript,
        )
    response = checking_broker.end_transaction(
        group=group,
        commit_log_offset=int(second.fields["commitLogOffset"]),
        queue_offset=int(second.fields["tranStateTableOffset"]),
        decision=Decision.COMMIT,
        message_id=second.fields["msgId"],
        transaction_id=second.fields["transactionId"],
        from_check=True,
    )
    expect(
        "TXN-CHECK-007",
        found=response.code,
        expected=0,
        what="code",
        transcript=checking_broker.transcript,
    )
    checking_broker.wait_for_max_offset(topic=checked_topic, queue_id=2, offset=1)


@pytest.mark.clause("TXN-CHECK-001", "TXN-CHECK-003")
def test_each_question_shows_its_own_message(
    checking_target: Target,
    checking_broker: Client,
    checked_topic: str,
    group: str,
    unique: Callable[[str], str],
) -> None:
    other = create_topic(checking_target, unique("topic"))
    sent: dict[str, dict[str, object]] = {}
    for number, topic in enumerate((checked_topic, other)):
        own_group = group if topic == checked_topic else unique("group")
        join(checking_broker, own_group)
        half = send_half(
            checking_broker,
            topic,
            group=own_group,
            body=b"half %d" % number,
            queue_id=number,
            flag=number,
            born_at_ms=old() + number,
            properties={
                "TAGS": f"tag{number}",
                "KEYS": f"key{number}",
                "own": f"é{number}",
                "another": f"{number}",
            },
        )
        sent[half.unique_key] = {
            "topic": topic,
            "queue_id": number,
            "TAGS": f"tag{number}",
            "KEYS": f"key{number}",
        }
    topics: set[str] = set()
    while len(topics) < 2:
        found = question(checking_broker)
        key = found.fields["msgId"]
        shown = check_shown(checking_broker, found)
        place_shown = {"topic": shown.topic, "queue_id": shown.queue_id}
        expect_fields(
            "TXN-CHECK-003",
            found={**place_shown, **decode_properties(shown.properties)},
            expected=sent[key],
            transcript=checking_broker.transcript,
        )
        topics.add(shown.topic)
    expect(
        "TXN-CHECK-001",
        found=topics,
        expected={checked_topic, other},
        what="topics",
        transcript=checking_broker.transcript,
    )


@pytest.mark.clause("TXN-CHECK-024")
def test_a_question_shows_the_record_before_the_renewed_one(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    join(checking_broker, group)
    half = send_half(
        checking_broker, checked_topic, group=group, flag=7, born_at_ms=old()
    )
    viewed = checking_broker.view_message(commit_log_offset=half.commit_log_offset)
    before = decode_record(require_success(viewed).body)
    for _ in range(2):
        found = question(checking_broker)
        shown = decode_record(found.body, check_crc=False)
        for name in OF_THE_ONE_BEFORE:
            expect(
                "TXN-CHECK-024",
                found=getattr(shown, name),
                expected=getattr(before, name),
                what=f"{name} of the record in the check request",
                evidence=record_evidence(shown, name),
                transcript=checking_broker.transcript,
            )
        before = renewed_by(checking_broker, found)


def check_shown(client: Client, found: Command) -> Record:
    """Compare the record in a question with the renewed half message; return it."""
    size = size_of_record(found.body)
    expect(
        "TXN-CHECK-003",
        found=len(found.body),
        expected=size,
        what="body's bytes",
        transcript=client.transcript,
    )
    shown = decode_record(found.body, check_crc=False)
    record = renewed_by(client, found)
    expect_fields(
        "TXN-CHECK-003",
        found={name: getattr(shown, name) for name in OF_THE_MESSAGE},
        expected={name: getattr(record, name) for name in OF_THE_MESSAGE},
        transcript=client.transcript,
    )
    found_properties = decode_properties(shown.properties)
    stored = decode_properties(record.properties)
    expect_fields(
        "TXN-CHECK-003",
        found=found_properties,
        expected=stored,
        transcript=client.transcript,
    )
    expect(
        "TXN-CHECK-003",
        found=sorted(found_properties.keys() - stored.keys() - {"WAIT"}),
        expected=[],
        what="properties that the renewed half message does not have",
        transcript=client.transcript,
    )
    return shown


def check_renewal(client: Client, found: Command, half: Half, *, number: int) -> None:
    """Check the header of the question of this *number*, and the record it names."""
    record = renewed_by(client, found)
    host = Host.of(client.address.host, client.address.port)
    expect_fields(
        "TXN-CHECK-002",
        found=found.fields,
        expected={
            "tranStateTableOffset": str(record.queue_offset),
            "offsetMsgId": encode_message_id(host, record.physical_offset),
            "msgId": half.unique_key,
            "transactionId": half.unique_key,
        },
        transcript=client.transcript,
    )
    times = decode_properties(record.properties).get("TRANSACTION_CHECK_TIMES")
    expect(
        "TXN-CHECK-006",
        found=(record.topic, times, record.queue_offset > half.queue_offset),
        expected=(HALF_TOPIC, str(number), True),
        what="topic, TRANSACTION_CHECK_TIMES, and whether it lies behind the first",
        transcript=client.transcript,
    )


@pytest.mark.clause("TXN-CHECK-023")
def test_a_compressed_message_stays_compressed(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    join(checking_broker, group)
    compressed, flag = zlib.compress(b"half" * 100), int(SystemFlag.COMPRESSED)
    half = send_half(
        checking_broker,
        checked_topic,
        group=group,
        body=compressed,
        system_flags=flag,
        born_at_ms=old(),
    )
    record = renewed_by(checking_broker, question(checking_broker))
    expect(
        "TXN-CHECK-023",
        found=(record.system_flags & flag, record.body),
        expected=(flag, compressed),
        what="compressed flag and body of what is stored once more",
        transcript=checking_broker.transcript,
    )
    half.end(checking_broker, Decision.ROLLBACK)


@pytest.mark.clause("TXN-CHECK-006")
def test_what_is_stored_once_more_is_passed(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    join(checking_broker, group)
    send_half(
        checking_broker, checked_topic, group=group, born_at_ms=old(), body=b"old"
    )
    send_half(checking_broker, checked_topic, group=group, body=b"young")
    counted = []
    for _ in range(3):  # the old one before the young one is due, and both thereafter
        record = renewed_by(checking_broker, question(checking_broker))
        times = decode_properties(record.properties)["TRANSACTION_CHECK_TIMES"]
        counted.append((record.body, times))
    expect(
        "TXN-CHECK-006",
        found=sorted(counted),
        expected=[(b"old", "1"), (b"old", "2"), (b"young", "1")],
        what="who was asked about, and TRANSACTION_CHECK_TIMES",
        transcript=checking_broker.transcript,
    )


@pytest.mark.clause("TXN-CHECK-008", "TXN-CHECK-016")
def test_none_of_many_that_are_decided_is_asked_about(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    halves = [send_half(checking_broker, checked_topic, group=group) for _ in range(20)]
    for half in halves:
        require_success(half.end(checking_broker, Decision.ROLLBACK))
    join(checking_broker, group)
    expect_progress(checking_broker, HALF_TOPIC, halves[-1].queue_offset)
    expect_silence("TXN-CHECK-008", checking_broker, "silence about what is decided")


@pytest.mark.clause("TXN-CHECK-004", "TXN-CHECK-005", "TXN-CHECK-015")
def test_a_young_message_is_left_alone_and_those_behind_it(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    join(checking_broker, group)
    born = now_ms()
    young = send_half(
        checking_broker, checked_topic, group=group, born_at_ms=born, body=b"young"
    )
    send_half(
        checking_broker, checked_topic, group=group, born_at_ms=old(), body=b"old"
    )
    # One check covers both, by threads of a pool: what is before the
    # other is seen by where their records were renewed, not by whose question is first.
    questions = sorted(
        (question(checking_broker), question(checking_broker)), key=place_in_log
    )
    clauses = (("TXN-CHECK-004", b"young"), ("TXN-CHECK-015", b"old"))
    for found, (clause, body) in zip(questions, clauses, strict=True):
        shown = decode_record(found.body, check_crc=False).body
        expect(
            clause,
            found=shown,
            expected=body,
            what="who is asked about next",
            transcript=checking_broker.transcript,
        )
        waited_ms = renewed_by(checking_broker, found).stored_at_ms - born
        expect_that(
            clause,
            waited_ms >= TIMEOUT_MS,
            found=waited_ms,
            expected=f"{TIMEOUT_MS} or more",
            what="milliseconds from the young one's birth to the question",
            transcript=checking_broker.transcript,
        )
    young.end(checking_broker, Decision.ROLLBACK)


@pytest.mark.clause("TXN-CHECK-005")
@pytest.mark.parametrize("age_ms", [HOUR_MS, -HOUR_MS])
def test_a_producers_clock_is_believed(
    checking_broker: Client, checked_topic: str, group: str, age_ms: int
) -> None:
    join(checking_broker, group)
    half = send_half(
        checking_broker, checked_topic, group=group, born_at_ms=now_ms() - age_ms
    )
    first = decode_record(
        require_success(
            checking_broker.view_message(commit_log_offset=half.commit_log_offset)
        ).body
    )
    waited_ms = (
        renewed_by(checking_broker, question(checking_broker)).stored_at_ms
        - first.stored_at_ms
    )
    expect_that(
        "TXN-CHECK-005",
        waited_ms < TIMEOUT_MS,
        found=waited_ms,
        expected=f"less than {TIMEOUT_MS}",
        what="milliseconds from the send to the question",
        transcript=checking_broker.transcript,
    )
    half.end(checking_broker, Decision.ROLLBACK)


@pytest.fixture
def patient(checking_broker: Client) -> Iterator[Client]:
    """Yield a connection to a broker that checks often, up to 1000 times."""
    require_success(
        checking_broker.update_broker_config({"transactionCheckMax": "1000"})
    )
    yield checking_broker
    most = {"transactionCheckMax": str(MOST_QUESTIONS)}
    require_success(checking_broker.update_broker_config(most))


@pytest.mark.clause("TXN-CHECK-003", "TXN-CHECK-012", "TXN-CHECK-013")
def test_a_message_may_ask_for_time(
    patient: Client, checked_topic: str, group: str
) -> None:
    join(patient, group)
    born, own_ms = now_ms(), TIMEOUT_MS + 1000
    own = {"CHECK_IMMUNITY_TIME_IN_SECONDS": str(own_ms // 1000)}
    half = send_half(
        patient, checked_topic, group=group, born_at_ms=born, properties=own
    )
    found = question(patient)
    record = renewed_by(patient, found)
    check_shown(patient, found)
    checked_place = int(found.fields["commitLogOffset"]), record.queue_offset
    patient.end_transaction(
        group=group,
        commit_log_offset=checked_place[0],
        queue_offset=checked_place[1],
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
        transcript=patient.transcript,
    )


@pytest.mark.clause("TXN-HALF-004")
def test_a_broker_may_refuse_transactions(
    checking_broker: Client, checked_topic: str, group: str
) -> None:
    require_success(
        checking_broker.update_broker_config({"rejectTransactionMessage": "true"})
    )
    try:
        refused = checking_broker.send_message(
            topic=checked_topic, properties={"TRAN_MSG": "true", "PGROUP": group}
        )
        ordinary = checking_broker.send_message(topic=checked_topic)
    finally:
        require_success(
            checking_broker.update_broker_config({"rejectTransactionMessage": "false"})
        )
    expect(
        "TXN-HALF-004",
        found=(refused.code, ordinary.code),
        expected=(ResponseCode.NO_PERMISSION, ResponseCode.SUCCESS),
        what="codes of a half message and of an ordinary one",
        transcript=checking_broker.transcript,
    )
