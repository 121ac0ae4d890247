"""Half messages as a producer makes them, and what it says about them later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.harness.speaker import Speaker, succeeded
from conformance.messaging.reading import bodies_of, offset_of
from spec.store.message_record import SystemFlag
from spec.wire.command import Command
from spec.wire.transactions import Decision

PREPARED = int(SystemFlag.TRANSACTION_PREPARED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """A half message that a broker has taken."""

    group: str
    answer: Command
    """The answer to its send."""
    unique_key: str

    @property
    def commit_log_offset(self) -> int:
        """Where its record lies."""
        return offset_of(self.answer)

    @property
    def queue_offset(self) -> int:
        """Its number in the half topic's queue."""
        return int(self.answer.fields["queueOffset"])

    def end(
        self,
        broker: Speaker,
        decision: int = Decision.COMMIT,
        *,
        group: str | None = None,
        queue_offset: int | None = None,
        oneway: bool = False,
    ) -> Command:
        """Say what is to become of it; return the answer, or the oneway request."""
        return broker.end_transaction(
            group=self.group if group is None else group,
            commit_log_offset=self.commit_log_offset,
            queue_offset=self.queue_offset if queue_offset is None else queue_offset,
            decision=decision,
            message_id=self.unique_key,
            transaction_id=self.unique_key,
            oneway=oneway,
        )


def send_half(
    broker: Speaker,
    topic: str,
    *,
    group: str,
    body: bytes = b"half",
    queue_id: int = 0,
    flag: int = 0,
    system_flags: int = 0,
    born_at_ms: int | None = None,
    properties: Mapping[str, str] | None = None,
) -> Half:
    """Send a half message for a queue of *topic*; its unique key is made of *topic*."""
    key = f"KEY-{topic}"
    own = {"TRAN_MSG": "true", "PGROUP": group, "UNIQ_KEY": key}
    answer = broker.send_message(
        topic=topic,
        queue_id=queue_id,
        body=body,
        group=group,
        flag=flag,
        system_flags=system_flags,
        born_at_ms=born_at_ms,
        properties=own | dict(properties or {}),
    )
    return Half(group=group, answer=succeeded(answer), unique_key=key)


def only_later_ones(broker: Speaker, topic: str) -> list[bytes]:
    """Send an ordinary message to queue 0 and return the bodies that are there then."""
    succeeded(broker.send_message(topic=topic, body=b"ordinary"))
    broker.wait_for_max_offset(topic=topic, offset=1)
    return bodies_of(broker.pull(topic=topic, offset=0))
