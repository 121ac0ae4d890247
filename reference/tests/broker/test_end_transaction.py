"""END_TRANSACTION with SYNC_FLUSH: the response follows the flush of the message."""

from __future__ import annotations

import pytest

from reference.tests.broker.broker_driver import send_fields
from reference.tests.broker.disk.slow_disk import SYNC, SlowDisk
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import encode_properties
from spec.wire.message.transactions import Decision
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

GROUP = "producers"
FLUSH_TIMEOUT_MS = 5000


def decided(decision: Decision, **properties: str) -> SlowDisk:
    """Return a broker that has received the decision about a half message."""
    driver = SlowDisk({**SYNC, "mappedFileSizeCommitLog": "65536"})
    driver.connect(1)
    own = {"TRAN_MSG": "true", "PGROUP": GROUP, **properties}
    fields = send_fields("T", properties=encode_properties(own))
    driver.send(1, RequestCode.SEND_MESSAGE, fields, b"half")
    driver.flush_all()
    (sent,) = driver.inbox(1)
    fields = {
        "producerGroup": GROUP,
        "tranStateTableOffset": sent.fields["queueOffset"],
        "commitLogOffset": decode_message_id(sent.fields["msgId"])[1],
        "commitOrRollback": int(decision),
        "msgId": "key",
    }
    driver.send(1, RequestCode.END_TRANSACTION, fields)
    return driver


def test_a_commit_is_on_disk_before_its_response() -> None:
    driver = decided(Decision.COMMIT)
    assert driver.inbox(1) == []
    driver.flush_all()
    assert [one.code for one in driver.inbox(1)] == [ResponseCode.SUCCESS]
    assert driver.on_disk == driver.broker.state.store.log.files.end


def test_a_commit_that_is_not_flushed_in_time_is_one_all_the_same() -> None:
    driver = decided(Decision.COMMIT)
    driver.wait(FLUSH_TIMEOUT_MS)
    assert [one.code for one in driver.inbox(1)] == [ResponseCode.SUCCESS]


@pytest.mark.parametrize(
    ("decision", "properties"),
    [(Decision.ROLLBACK, {}), (Decision.COMMIT, {"WAIT": "false"})],
)
def test_other_decisions_wait_for_no_flush(
    decision: Decision, properties: dict[str, str]
) -> None:
    driver = decided(decision, **properties)
    assert [one.code for one in driver.inbox(1)] == [ResponseCode.SUCCESS]
