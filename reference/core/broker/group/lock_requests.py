"""
LOCK_BATCH_MQ and UNLOCK_BATCH_MQ: orderly consumers lock the queues that they consume.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reference.core.broker.group.queue_locks import Queue
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.wire.bodies import fastjson


class LockRequestError(ValueError):
    """The body of a request is not the JSON object of a client."""


def lock_batch_mq(state: BrokerState, request: Request) -> Response:
    """Lock queues; respond with those that the client has locked (LOCK_BATCH_MQ)."""
    group, client_id, queues = _read(request.body)
    got = [
        {"brokerName": queue[1], "queueId": queue[2], "topic": queue[0]}
        for queue in queues
        if state.locks.lock(group, queue, client_id, now_ms=request.now_ms)
    ]
    return Response(body=fastjson.dumps({"lockOKMQSet": got}))


def unlock_batch_mq(state: BrokerState, request: Request) -> Response:
    """Unlock queues of a client (UNLOCK_BATCH_MQ)."""
    group, client_id, queues = _read(request.body)
    for queue in queues:
        state.locks.unlock(group, queue, client_id)
    return Response()


def _read(body: bytes) -> tuple[str, str, list[Queue]]:
    value = fastjson.loads(body)
    if not isinstance(value, dict):
        raise LockRequestError("the body is no JSON object")
    queues = [_queue(entry) for entry in value.get("mqSet") or ()]
    return str(value.get("consumerGroup")), str(value.get("clientId")), queues


def _queue(entry: Mapping[str, Any]) -> Queue:
    return str(entry["topic"]), str(entry["brokerName"]), int(entry["queueId"])
