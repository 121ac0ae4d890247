"""
LOCK_BATCH_MQ and UNLOCK_BATCH_MQ: orderly consumers lock the queues that they consume.
"""

from __future__ import annotations

from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.wire.bodies.json_body import decode_body, encode_body
from spec.wire.consumer.queue_locks import LockBatchRequestBody, LockBatchResponseBody


def lock_batch_mq(state: BrokerState, request: Request) -> Response:
    """Lock queues; respond with those that the client has locked."""
    body = decode_body(LockBatchRequestBody, request.body)
    locked = tuple(
        queue
        for queue in body.queues
        if state.locks.lock(body.group, queue, body.client_id, now_ms=request.now_ms)
    )
    return Response(body=encode_body(LockBatchResponseBody(queues=locked)))


def unlock_batch_mq(state: BrokerState, request: Request) -> Response:
    """Unlock queues of a client."""
    body = decode_body(LockBatchRequestBody, request.body)
    for queue in body.queues:
        state.locks.unlock(body.group, queue, body.client_id)
    return Response()
