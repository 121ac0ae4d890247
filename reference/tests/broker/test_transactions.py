"""Half messages: unseen until committed, noted when done, asked about when late."""

from __future__ import annotations

from reference.core.broker.transaction_check import GIVEN_UP_TOPIC, check_transactions
from reference.core.broker.transactions import COMMIT, HALF_TOPIC, ROLLBACK
from reference.tests.broker.making import Stage, send_fields
from spec.store.message_record import decode_record
from spec.wire import fastjson
from spec.wire.command import Command
from spec.wire.message_id import decode_message_id
from spec.wire.properties import decode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

HALF = "TRAN_MSG\x01true\x02PGROUP\x01producers\x02UNIQ_KEY\x01K\x02"


def prepared() -> tuple[Stage, Command]:
    """Return a stage with one half message, and the answer to its send."""
    stage = Stage()
    stage.connect(1)
    members = {"clientID": "c", "producerDataSet": [{"groupName": "producers"}]}
    stage.ask(1, RequestCode.HEART_BEAT, {}, fastjson.dumps(members))
    half = send_fields("T", properties=HALF)
    (answer,) = stage.ask(1, RequestCode.SEND_MESSAGE, half, b"body")
    return stage, answer


def end(stage: Stage, sent: Command, decision: int) -> list[Command]:
    """Decide on the half message that *sent* answered."""
    _, commit_log_offset = decode_message_id(sent.fields["msgId"])
    fields = {
        "producerGroup": "producers",
        "tranStateTableOffset": sent.fields["queueOffset"],
        "commitLogOffset": commit_log_offset,
        "commitOrRollback": decision,
        "fromTransactionCheck": "false",
        "msgId": "K",
    }
    return stage.ask(1, RequestCode.END_TRANSACTION, fields)


def test_a_half_message_is_not_in_its_topic() -> None:
    stage, _ = prepared()
    assert stage.broker.store.max_offset("T", 0) == 0
    assert stage.broker.store.max_offset(HALF_TOPIC, 0) == 1


def test_a_committed_one_is_there_once() -> None:
    stage, sent = prepared()
    (answer,) = end(stage, sent, COMMIT)
    assert answer.code == ResponseCode.SUCCESS
    found = stage.broker.store.get("T", 0, 0, 32)
    (record,) = [decode_record(data) for data in found.records]
    assert (record.body, record.system_flags & 0xC) == (b"body", COMMIT)


def test_a_rolled_back_one_never_is() -> None:
    stage, sent = prepared()
    (answer,) = end(stage, sent, ROLLBACK)
    assert answer.code == ResponseCode.SUCCESS
    assert stage.broker.store.max_offset("T", 0) == 0


def test_an_undecided_one_is_asked_about_after_its_timeout() -> None:
    stage, _ = prepared()
    stage.now_ms += 6_001
    check_transactions(stage.broker, stage.now_ms)
    stage.wait(0)
    (question,) = stage.inbox(1)
    assert question.code == RequestCode.CHECK_TRANSACTION_STATE
    assert question.fields["transactionId"] == "K"
    shown = decode_record(question.body)
    assert shown.topic == "T"
    assert decode_properties(shown.properties)["TRANSACTION_CHECK_TIMES"] == "1"


def test_a_young_one_and_a_decided_one_are_not_asked_about() -> None:
    stage, sent = prepared()
    check_transactions(stage.broker, stage.now_ms + 5_999)
    end(stage, sent, COMMIT)
    check_transactions(stage.broker, stage.now_ms + 60_000)
    stage.wait(0)
    assert stage.inbox(1) == []


def test_after_fifteen_questions_it_is_put_aside() -> None:
    stage, _ = prepared()
    for _ in range(17):
        stage.now_ms += 60_000
        check_transactions(stage.broker, stage.now_ms)
        stage.wait(0)
    assert len(stage.inbox(1)) == 15
    assert stage.broker.store.max_offset(GIVEN_UP_TOPIC, 0) == 1


def test_a_decision_that_is_none_of_the_three_is_refused() -> None:
    stage, sent = prepared()
    (answer,) = end(stage, sent, 4)
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert end(stage, sent, 0) == []


def test_waiting_for_a_time_of_its_own_counts_as_being_asked() -> None:
    stage = Stage()
    stage.connect(1)
    members = {"clientID": "c", "producerDataSet": [{"groupName": "producers"}]}
    stage.ask(1, RequestCode.HEART_BEAT, {}, fastjson.dumps(members))
    patient = HALF + "CHECK_IMMUNITY_TIME_IN_SECONDS\x013600\x02"
    half = send_fields("T", properties=patient)
    stage.ask(1, RequestCode.SEND_MESSAGE, half, b"body")
    for _ in range(17):
        stage.now_ms += 1_000
        check_transactions(stage.broker, stage.now_ms)
        stage.wait(0)
    assert stage.inbox(1) == []
    assert stage.broker.store.max_offset(GIVEN_UP_TOPIC, 0) == 1
