"""
An orderly client requests from the broker the queues that it alone may consume.

LOCK_BATCH_MQ and UNLOCK_BATCH_MQ name the same three values. The response to the first
lists the queues that the client now holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.wire.bodies.json_body import TEXT, TRUTH, list_of, member, rest_of_members
from spec.wire.bodies.queue_name import QUEUE_NAME, QueueName


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchRequestBody:
    """The body of LOCK_BATCH_MQ and of UNLOCK_BATCH_MQ."""

    group: str = member("consumerGroup", TEXT, "the group")
    client_id: str = member("clientId", TEXT, "who asks")
    queues: tuple[QueueName, ...] = member(
        "mqSet", list_of(QUEUE_NAME), "what it asks for", default=()
    )
    only_this_broker: bool | None = member(
        "onlyThisBroker",
        TRUTH,
        "whether the slaves need not be asked",
        default=None,
        since="5.0",
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchResponseBody:
    """The response to LOCK_BATCH_MQ."""

    queues: tuple[QueueName, ...] = member(
        "lockOKMQSet", list_of(QUEUE_NAME), "what the client has now", default=()
    )
    rest: Mapping[str, object] = rest_of_members()
