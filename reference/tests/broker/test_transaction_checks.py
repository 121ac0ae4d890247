"""Checks of half messages where a queue is not as the committed offset has it."""

from __future__ import annotations

import pytest

from reference.tests.broker.broker_driver import BrokerDriver, send_fields
from spec.wire.bodies.heartbeat import HeartbeatData, ProducerData
from spec.wire.bodies.json_body import encode_body
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import encode_properties
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    OP_TOPIC,
    TRANSACTION_CHECK_GROUP,
)
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

GROUP = "producers"
HALF = encode_properties({"TRAN_MSG": "true", "PGROUP": GROUP, "UNIQ_KEY": "key"})
BEAT = encode_body(
    HeartbeatData(client_id="me", producers=(ProducerData(group=GROUP),))
)
PASS_MS = 60_000
CHECK = RequestCode.CHECK_TRANSACTION_STATE


class TransactionDriver(BrokerDriver):
    """A broker and one producer of half messages."""

    def start(self) -> None:
        """Start the timers, and connect the producer."""
        self.broker.start([], self.now_ms)
        self.connect(1)

    def send_half(self) -> Command:
        """Send a half message; return the response."""
        fields = send_fields("T", properties=HALF, bornTimestamp=self.now_ms)
        (response,) = self.invoke(1, RequestCode.SEND_MESSAGE, fields, b"half")
        return response

    def commit(self, sent: Command) -> None:
        """Commit a half message, given the response to its send."""
        _, offset = decode_message_id(sent.fields["msgId"])
        fields = {
            "producerGroup": GROUP,
            "tranStateTableOffset": sent.fields["queueOffset"],
            "commitLogOffset": offset,
            "commitOrRollback": int(Decision.COMMIT),
            "msgId": "key",
        }
        (response,) = self.invoke(1, RequestCode.END_TRANSACTION, fields)
        assert response.code == ResponseCode.SUCCESS

    def checks_of_a_pass(self) -> int:
        """Return the number of check requests until the next pass is over."""
        self.invoke(1, RequestCode.HEART_BEAT, {}, BEAT)
        self.wait(PASS_MS)
        return [one.code for one in self.inbox(1)].count(CHECK)

    def progress(self, topic: str) -> int:
        """Return the committed offset of the checks in *topic*."""
        return self.broker.state.offsets.query(TRANSACTION_CHECK_GROUP, topic, 0)


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        (RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "other"}),
        (RequestCode.CLEAN_UNUSED_TOPIC, {}),
    ],
)
def test_a_decision_counts_after_the_queue_of_op_messages_was_deleted(
    code: int, fields: dict[str, str]
) -> None:
    driver = TransactionDriver()
    driver.start()
    for _ in range(5):
        driver.commit(driver.send_half())
    assert driver.checks_of_a_pass() == 0
    assert driver.progress(OP_TOPIC) == 5
    driver.invoke(1, code, fields)
    driver.commit(driver.send_half())
    assert [driver.checks_of_a_pass() for _ in range(2)] == [0, 0]


def test_half_messages_are_checked_after_a_crash_that_lost_others() -> None:
    driver = TransactionDriver()
    offsets = driver.broker.state.offsets
    for topic in (HALF_TOPIC, OP_TOPIC):
        offsets.commit(TRANSACTION_CHECK_GROUP, topic, 0, 7)
    driver.start()
    assert [driver.progress(topic) for topic in (HALF_TOPIC, OP_TOPIC)] == [0, 0]
    driver.send_half()
    assert driver.checks_of_a_pass() == 1


def test_op_messages_that_were_deleted_unread_hold_up_no_others() -> None:
    driver = TransactionDriver()
    driver.start()
    for _ in range(5):
        driver.commit(driver.send_half())
    assert driver.checks_of_a_pass() == 0
    state = driver.broker.state
    state.offsets.commit(TRANSACTION_CHECK_GROUP, OP_TOPIC, 0, 0)
    op_queue = state.store.queues.table[OP_TOPIC, 0]
    second = op_queue.unit(1)
    assert second is not None
    op_queue.correct_min_offset(second[0])
    assert op_queue.min_offset == 1
    assert driver.checks_of_a_pass() == 0
    assert driver.progress(OP_TOPIC) == 5
