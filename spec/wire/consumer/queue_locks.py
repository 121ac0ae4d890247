"""
An orderly client requests from the broker the queues that it alone may consume.

LOCK_BATCH_MQ and UNLOCK_BATCH_MQ name the same three values. The response to the first
lists the queues that the client now holds.
"""

from __future__ import annotations

from typing import Annotated

from spec.wire.bodies.json_body import Member, OpenBody
from spec.wire.bodies.queue_name import QueueName


class LockBatchRequestBody(OpenBody, frozen=True, kw_only=True):
    """The body of LOCK_BATCH_MQ and of UNLOCK_BATCH_MQ."""

    group: Annotated[str, Member("consumerGroup", "the group")]
    client_id: Annotated[str, Member("clientId", "client that sends the request")]
    queues: Annotated[tuple[QueueName, ...], Member("mqSet", "requested queues")] = ()
    only_this_broker: Annotated[
        bool | None,
        Member("onlyThisBroker", "whether the slaves get no copy of it", since="5.0"),
    ] = None


class LockBatchResponseBody(OpenBody, frozen=True, kw_only=True):
    """The response to LOCK_BATCH_MQ."""

    queues: Annotated[
        tuple[QueueName, ...], Member("lockOKMQSet", "what the client has now")
    ] = ()
