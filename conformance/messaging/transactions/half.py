"""Half messages of a producer, and its decisions about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.harness.client.client import Client, require_success
from conformance.messaging.stored_messages import bodies_of, offset_of
from spec.store.message_record import SystemFlag
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command

PREPARED = int(SystemFlag.TRANSACTION_PREPARED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """A half message that a broker has taken."""

    group: str
    response: Command
    """The response to its send."""
    unique_key: str

    @property
    def commit_log_offset(self) -> int:
        """Commit-log offset of its record, in bytes."""
        return offset_of(self.response)

    @property
    def queue_offset(self) -> int:
        """Its number in the half topic's queue."""
        return int(self.response.fields["queueOffset"])

    def end(
        self,
        broker: Client,
        decision: int = Decision.COMMIT,
        *,
        group: str | None = None,
        queue_offset: int | None = None,
        oneway: bool = False,
    ) -> Command:
        """Send END_TRANSACTION; return the response, or the oneway request."""
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
    broker: Client,
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
    response = broker.send_message(
        topic=topic,
        queue_id=queue_id,
        body=body,
        group=group,
        flag=flag,
        system_flags=system_flags,
        born_at_ms=born_at_ms,
        properties=own | dict(properties or {}),
    )
    return Half(group=group, response=require_success(response), unique_key=key)


def only_later_ones(broker: Client, topic: str) -> list[bytes]:
    """Send an ordinary message to queue 0 and return the bodies that are there then."""
    require_success(broker.send_message(topic=topic, body=b"ordinary"))
    broker.wait_for_max_offset(topic=topic, offset=1)
    return bodies_of(broker.pull(topic=topic, offset=0))
