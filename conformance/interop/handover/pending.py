"""
Operations that a writer has left unfinished: the reader finishes each once, in time.

These are delayed messages, undecided half messages, and the next message of every
queue. Results are sentences. The expected results are derived from the written content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.client.peer_errors import NoResponseError
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.interop.handover.handover import (
    LATER,
    PAID,
    PRODUCERS,
    TIMED,
    Written,
    queues,
)
from conformance.interop.handover.observe import Items, Responses, ends_of
from conformance.interop.handover.send import send_one
from spec.store.message_record import Record, decode_records
from spec.wire.bodies import fastjson
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CHECKED_WITHIN_S = 20.0
LATE_S = 15.0
"""Delay after which a delivery on a busy machine counts as missing."""
LULL_S = 0.3
"""Pause in seconds between two rounds of queries."""
QUIET_S = 3.5
"""Seconds for one more scan by the broker, which runs every 3 seconds."""
SOON_MS = 60_000

CHECKED = "checked"
NOT_CHECKED = "not checked"
ONCE = "delivered once, not before its time"
NOT_YET = "not delivered yet"
DENSE = "takes the next offset"


@dataclass(slots=True)
class Producer:
    """A client of the group whose half messages are undecided."""

    broker: Client
    questions: dict[str, Command] = field(default_factory=dict)
    """The latest question about each half message, by its unique key."""

    def join(self) -> None:
        """Send a heartbeat."""
        require_success(
            self.broker.heartbeat(
                client_id="handover@producer", producer_groups=[PRODUCERS]
            )
        )

    def listen(self, *, timeout_s: float) -> str | None:
        """Take the next question; return about which message, None without one."""
        try:
            question = self.broker.peer.receive_request(
                RequestCode.CHECK_TRANSACTION_STATE, timeout_s=timeout_s
            )
        except NoResponseError:
            return None
        key = question.fields["transactionId"]
        self.questions[key] = question
        return key

    def listen_for(self, seconds: float) -> list[str]:
        """Return of which messages questions come in so many seconds, each once."""
        checked: set[str] = set()
        until_ms = now_ms() + int(seconds * 1000)
        while (left_ms := until_ms - now_ms()) > 0:
            if key := self.listen(timeout_s=left_ms / 1000):
                checked.add(key)
        return sorted(checked)

    def end(self, key: str, decision: int) -> None:
        """Answer the latest question about a half message."""
        fields = self.questions[key].fields
        response = self.broker.end_transaction(
            group=PRODUCERS,
            commit_log_offset=int(fields["commitLogOffset"]),
            queue_offset=int(fields["tranStateTableOffset"]),
            decision=decision,
            message_id=fields["msgId"],
            transaction_id=key,
            from_check=True,
        )
        require_success(response)


def finish(
    broker: Client, producer: Producer, written: Written, *, is_decided: bool = False
) -> Responses:
    """
    Let the broker finish what *written* had only begun; return what it did.

    With *is_decided* an earlier reader has seen to the half messages.
    """
    ready_ms = now_ms()
    producer.join()
    halves = finish_halves(broker, producer, {} if is_decided else written.halves)
    due = {f"level {level}": time for level, time in written.due.items()}
    found = {"delayed messages": finish_delayed(broker, LATER, due, since_ms=ready_ms)}
    if written.is_5:
        fates = finish_delayed(broker, TIMED, written.timed, since_ms=ready_ms)
        found["timed messages"] = fates
    while producer.listen(timeout_s=LULL_S):
        pass
    again = producer.listen_for(QUIET_S)
    found["half messages"] = halves | {
        f"{fate}, question": CHECKED if key in producer.questions else NOT_CHECKED
        for key, fate in written.halves.items()
    }
    found["half messages"]["questions after the decisions"] = again
    return found


def promised(
    written: Written, found: Responses, *, is_decided: bool = False
) -> Responses:
    """Return the expected results for the content of *written*."""
    fates: Responses = {
        name: {one: NOT_YET if fate == NOT_YET else ONCE for one, fate in fates.items()}
        for name, fates in found.items()
        if name.endswith(("delayed messages", "timed messages"))
    }
    halves: Items = {
        "messages in the topic": ["committed", "to be committed"],
        "questions after the decisions": [],
    }
    for fate in written.halves.values():
        is_open = "to be" in fate and not is_decided
        halves[f"{fate}, question"] = CHECKED if is_open else NOT_CHECKED
    return {**fates, "half messages": halves}


def finish_halves(
    broker: Client, producer: Producer, halves: Mapping[str, str]
) -> Items:
    """Answer the broker's questions; return which messages are in the topic then."""
    decisions = {
        key: Decision.COMMIT if "committed" in fate else Decision.ROLLBACK
        for key, fate in halves.items()
        if "to be" in fate
    }
    give_up_ms = now_ms() + int(CHECKED_WITHIN_S * 1000)
    while decisions and now_ms() < give_up_ms:
        producer.listen(timeout_s=1.0)
        # Each question is about a newer copy of the message: the latest is answered.
        while producer.listen(timeout_s=LULL_S):
            pass
        for key in producer.questions.keys() & decisions.keys():
            producer.end(key, decisions.pop(key))
    _wait(lambda: len(placed(broker, PAID)) >= 2, timeout_s=LATE_S)
    return {"messages in the topic": [body for body, _ in placed(broker, PAID)]}


def finish_delayed(
    broker: Client, topic: str, due: Mapping[str, int], *, since_ms: int
) -> Items:
    """
    Wait for what is due, and for the first that is due soon; return each one's fate.

    What is due later than that must not be there before its time, and may be missing.
    """
    soon_ms = min(
        (time for time in due.values() if since_ms < time < since_ms + SOON_MS),
        default=since_ms,
    )
    wanted = {name for name, time in due.items() if time <= soon_ms}
    _wait(
        lambda: wanted <= {body for body, _ in placed(broker, topic)},
        timeout_s=(soon_ms - now_ms()) / 1000 + LATE_S,
    )
    found = placed(broker, topic)
    return {
        name: _fate(
            [at for body, at in found if body == name], time, is_due=name in wanted
        )
        for name, time in due.items()
    }


def _fate(stored_ms: list[int], due_ms: int, *, is_due: bool) -> str:
    if not stored_ms:
        return "missing" if is_due else NOT_YET
    if len(stored_ms) > 1:
        return f"delivered {len(stored_ms)} times"
    early_ms = due_ms - stored_ms[0]
    return ONCE if early_ms <= 0 else f"delivered {early_ms} ms early"


def kept_delay_offsets(store: Path, fates: Items) -> tuple[Items, Items]:
    """Return the delivered offset of each level in the file of a broker that has ended.

    The first result is the expected one, by the *fates* of messages of the delivered
    levels.
    """
    file = store / "config" / "delayOffset.json"
    content = fastjson.loads(file.read_bytes())
    assert isinstance(content, dict)
    kept = {f"level {level}": end for level, end in content["offsetTable"].items()}
    # The writer delivered two of level 1: one later, and one to be retried.
    wanted: Items = {name: 1 for name, fate in fates.items() if fate == ONCE}
    wanted["level 1"] = 2
    return wanted, {name: kept.get(name) for name in wanted}


def go_on(broker: Client, written: Written) -> Items:
    """Send one more message to every queue and note it; return where each went."""
    places: Items = {}
    for topic, queue_id in queues():
        if topic.startswith("%"):
            continue
        _, end = ends_of(broker, topic, queue_id)
        key = f"next-{len(written.sent)}"
        one = send_one(broker, (topic, queue_id), key.encode(), key=key)
        written.sent.append(one)
        is_dense = one.queue_offset == end
        places[f"{topic}/{queue_id}"] = (
            DENSE if is_dense else f"takes {one.queue_offset}, the end is {end}"
        )
    for topic, queue_id in queues():
        end = sum(
            (one.topic, one.queue_id) == (topic, queue_id) for one in written.sent
        )
        broker.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=end, timeout_s=LATE_S
        )
    return places


def placed(broker: Client, topic: str) -> list[tuple[str, int]]:
    """Return body and store time of each message of a topic's only queue."""
    found: list[Record] = []
    while True:
        response = broker.pull(topic=topic, offset=len(found))
        if response.code != ResponseCode.SUCCESS:
            return [(one.body.decode(), one.stored_at_ms) for one in found]
        found += decode_records(response.body)


def _wait(condition: Callable[[], bool], *, timeout_s: float) -> None:
    """Wait for *condition*; a timeout shows in the later queries."""
    with suppress(TooLateError):
        wait_until(condition, what="it is done", timeout_s=timeout_s)
