"""
What a producer sees of a broker that looks through half messages.

The broker looks every half second and gives up after three questions, so that nobody
has to wait; a half message that claims to be old is asked about at once.
"""

from __future__ import annotations

from conformance.harness.deadline import wait_until
from conformance.harness.speaker import Speaker, now_ms, succeeded
from conformance.harness.verdicts import expect
from conformance.messaging.reading import records_of
from spec.store.message_record import Record, decode_record
from spec.wire.command import Command
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.transaction_checks import CHECK_GROUP, GIVEN_UP_TOPIC

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


def place_in_log(asked_about: Command) -> int:
    """Return the offset in the commit log of the record that a question names."""
    return int(asked_about.fields["commitLogOffset"])


def renewed_by(speaker: Speaker, asked_about: Command) -> Record:
    """Return the record that a question names."""
    place = place_in_log(asked_about)
    return decode_record(succeeded(speaker.view_message(commit_log_offset=place)).body)


def records_in(speaker: Speaker, topic: str) -> list[Record]:
    """Return all messages of queue 0 of *topic*; none while there is no such topic."""
    found: list[Record] = []
    while True:
        answer = speaker.pull(topic=topic, offset=len(found))
        if answer.code != ResponseCode.SUCCESS:
            return found
        found += records_of(answer)


def given_up(speaker: Speaker, topic: str) -> list[Record]:
    """Wait for messages for *topic* among those given up, and return them."""

    def found() -> list[Record]:
        records = records_in(speaker, GIVEN_UP_TOPIC)
        return [one for one in records if f"REAL_TOPIC\x01{topic}" in one.properties]

    wait_until(lambda: bool(found()), what="it is given up", timeout_s=PATIENCE_S)
    return found()


def expect_silence(clause: str, speaker: Speaker, what: str = "no question") -> None:
    """Fail *clause* if the broker asks us anything now."""
    expect(
        clause,
        found=speaker.peer.is_silent(QUIET_S),
        expected=True,
        what=what,
        transcript=speaker.transcript,
    )


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
