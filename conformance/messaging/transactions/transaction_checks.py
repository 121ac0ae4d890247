"""
Transaction checks as a producer receives them (CHECK_TRANSACTION_STATE).

The broker checks every half second and gives up after three check requests, so
that no test waits long. A half message with an old born time is checked immediately.
"""

from __future__ import annotations

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.process.deadline import comes_true, wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.messaging.stored_messages import records_of
from spec.clause import release_key
from spec.store.message_record import Record, decode_record
from spec.wire.message.topic_names import (
    TRANS_CHECK_MAX_TIME_TOPIC,
    TRANSACTION_CHECK_GROUP,
)
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

TIMEOUT_MS = 3000
MOST_QUESTIONS = 3
CHECK_INTERVAL = "transactionCheckInterval"
FREQUENT_CHECKS = {
    CHECK_INTERVAL: "500",
    "transactionTimeOut": str(TIMEOUT_MS),
    "transactionCheckMax": str(MOST_QUESTIONS),
    "transactionOpMsgMaxSize": "1",
}
SINCE_5_1 = "transactionOpMsgMaxSize"
HOUR_MS = 3_600_000
PATIENCE_S = 30.0
QUIET_S = 1.0


def frequent_check_settings(release: str) -> dict[str, str]:
    """Return the settings in FREQUENT_CHECKS that a broker of *release* has."""
    has_all = release_key(release) >= (5, 1)
    return {
        k: value for k, value in FREQUENT_CHECKS.items() if has_all or k != SINCE_5_1
    }


def join(client: Client, group: str) -> None:
    """Become a client of a producer group."""
    require_success(client.heartbeat(client_id=f"c_{group}", producer_groups=[group]))


def question(client: Client) -> Command:
    """Return the next check request of the broker."""
    return client.peer.receive_request(
        RequestCode.CHECK_TRANSACTION_STATE, timeout_s=PATIENCE_S
    )


def old() -> int:
    """Return a born time that is long past, and not too long."""
    return now_ms() - HOUR_MS


def place_in_log(check_request: Command) -> int:
    """Return the commit-log offset of the record that a check request names."""
    return int(check_request.fields["commitLogOffset"])


def renewed_by(client: Client, check_request: Command) -> Record:
    """Return the record that a check request names."""
    place = place_in_log(check_request)
    return decode_record(
        require_success(client.view_message(commit_log_offset=place)).body
    )


def records_in(client: Client, topic: str) -> list[Record]:
    """Return all messages of queue 0 of *topic*; none while there is no such topic."""
    found: list[Record] = []
    while True:
        response = client.pull(topic=topic, offset=len(found))
        if response.code != ResponseCode.SUCCESS:
            return found
        found += records_of(response)


def given_up(client: Client, topic: str) -> list[Record]:
    """Wait for messages for *topic* among those given up, and return them."""

    def found() -> list[Record]:
        records = records_in(client, TRANS_CHECK_MAX_TIME_TOPIC)
        return [one for one in records if f"REAL_TOPIC\x01{topic}" in one.properties]

    wait_until(lambda: bool(found()), what="it is given up", timeout_s=PATIENCE_S)
    return found()


def expect_silence(clause: str, client: Client, what: str = "no question") -> None:
    """Fail *clause* if the broker sends a check request now."""
    expect(
        clause,
        found=client.peer.is_silent(QUIET_S),
        expected=True,
        what=what,
        transcript=client.transcript,
    )


def expect_progress(client: Client, topic: str, offset: int) -> None:
    """Fail TXN-CHECK-016 unless the broker's check passes *offset* in *topic*."""
    comes_true(lambda: progress(client, topic) > offset, PATIENCE_S)
    found = progress(client, topic)
    expect_that(
        "TXN-CHECK-016",
        found > offset,
        found=found,
        expected=f"more than {offset}",
        what=f"offset of {TRANSACTION_CHECK_GROUP} in {topic}, {PATIENCE_S:g} s later",
        transcript=client.transcript,
    )


def progress(client: Client, topic: str) -> int:
    """Return the queue offset of *topic* up to which the broker has checked."""
    response = client.query_offset(
        group=TRANSACTION_CHECK_GROUP, topic=topic, queue_id=0
    )
    return int(response.fields.get("offset", -1))
