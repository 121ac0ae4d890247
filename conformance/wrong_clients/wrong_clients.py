"""
The faults of wrong clients that pop or send, each with the clauses that detect it.

The clauses are about releases after 4.6.0, which the reference client does not follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from spec.wire.bodies.fastjson import dumps, loads
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

POP, ACK = RequestCode.POP_MESSAGE, RequestCode.ACK_MESSAGE
CHANGE = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
ASSIGN = RequestCode.QUERY_ASSIGNMENT
SEND = RequestCode.SEND_MESSAGE_V2
Earlier = Mapping[int, Command]
"""The last request of each code."""
Fault = Callable[[Command, Earlier], Sequence[Command]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongClient:
    """A fault in the requests of a client."""

    id: str
    description: str
    caught_by: tuple[str, ...]
    fault: Fault


def _with(code: int, **fields: str) -> Fault:
    """Return the fault that sets *fields* of the requests of *code*."""

    def fault(request: Command, _earlier: Earlier) -> Sequence[Command]:
        if request.code != code:
            return (request,)
        return (replace(request, fields={**request.fields, **fields}),)

    return fault


def _other(code: int, name: str, change: Callable[[str], str]) -> Fault:
    """Return the fault that changes the field *name* of the requests of *code*."""

    def fault(request: Command, earlier: Earlier) -> Sequence[Command]:
        if request.code != code:
            return (request,)
        return _with(code, **{name: change(request.fields[name])})(request, earlier)

    return fault


def _other_group(request: Command, _earlier: Earlier) -> Sequence[Command]:
    """Request the queues of another group."""
    if request.code != ASSIGN:
        return (request,)
    body = loads(request.body)
    assert isinstance(body, dict)
    changed = {**body, "consumerGroup": f"{body['consumerGroup']}x"}
    return (replace(request, body=dumps(changed)),)


def _without(code: int) -> Fault:
    """Return the fault that never sends requests of *code*."""
    return lambda request, _earlier: () if request.code == code else (request,)


def _as(code: int, other: int) -> Fault:
    """Return the fault that sends *other* in place of *code*."""
    return lambda request, _earlier: (
        (replace(request, code=other),) if request.code == code else (request,)
    )


def _twice(code: int) -> Fault:
    """Return the fault that sends requests of *code* twice."""
    return lambda request, _earlier: (request,) * (2 if request.code == code else 1)


def _and_before(request: Command, _earlier: Earlier) -> Sequence[Command]:
    """Acknowledge the previous message of the queue as well."""
    if request.code != ACK:
        return (request,)
    before = str(int(request.fields["offset"]) - 1)
    fields = {**request.fields, "offset": before}
    return replace(request, fields=fields), request


def _assign_at_heartbeat(request: Command, _earlier: Earlier) -> Sequence[Command]:
    """Request assigned queues at each heartbeat."""
    if request.code != RequestCode.HEART_BEAT:
        return (request,)
    body = {
        "topic": "any",
        "consumerGroup": "any",
        "clientId": "any",
        "strategyName": "AVG",
        "messageModel": "CLUSTERING",
    }
    return request, replace(request, code=ASSIGN, body=dumps(body))


def _commit_at_end(request: Command, earlier: Earlier) -> Sequence[Command]:
    """Commit an offset of the popped queue before the end."""
    popped = earlier.get(POP)
    if request.code != RequestCode.UNREGISTER_CLIENT or popped is None:
        return (request,)
    fields = {
        **{name: popped.fields[name] for name in ("topic", "consumerGroup", "queueId")},
        "commitOffset": "1",
    }
    commit = replace(request, code=RequestCode.UPDATE_CONSUMER_OFFSET, fields=fields)
    return commit, request


def _receipt_of_first(receipt: str) -> str:
    """Return a receipt with queue offset 0."""
    return f"{receipt.rpartition(' ')[0]} 0"


def _beyond(number: str) -> str:
    return str(int(number) + 1)


_EVERY = (
    WrongClient(
        id="assignment_of_another_group",
        description="the queues of another group are requested",
        caught_by=("CLIENT-POP-001",),
        fault=_other_group,
    ),
    WrongClient(
        id="pop_of_another_queue",
        description="a queue that is not assigned is popped",
        caught_by=("CLIENT-POP-002",),
        fault=_other(POP, "queueId", _beyond),
    ),
    WrongClient(
        id="pop_of_a_pulled_queue",
        description="a queue with mode PULL is popped",
        caught_by=("CLIENT-POP-002",),
        fault=_as(RequestCode.PULL_MESSAGE, POP),
    ),
    WrongClient(
        id="pop_in_order",
        description="every pop is orderly",
        caught_by=("CLIENT-POP-003",),
        fault=_with(POP, order="true"),
    ),
    WrongClient(
        id="pop_without_expression",
        description="a pop has no subscription",
        caught_by=("CLIENT-POP-003",),
        fault=_with(POP, exp="*"),
    ),
    WrongClient(
        id="pop_from_the_end",
        description="every first pop begins at the max offset",
        caught_by=("CLIENT-POP-003",),
        fault=_with(POP, initMode="1"),
    ),
    WrongClient(
        id="acknowledgement_with_another_receipt",
        description="the receipt has another queue offset than the message",
        caught_by=("CLIENT-POP-004", "CLIENT-POP-005"),
        fault=_other(ACK, "extraInfo", _receipt_of_first),
    ),
    WrongClient(
        id="acknowledgement_twice",
        description="each message is acknowledged twice",
        caught_by=("CLIENT-POP-004",),
        fault=_twice(ACK),
    ),
    WrongClient(
        id="acknowledgement_in_another_topic",
        description="an acknowledgement has another topic",
        caught_by=("CLIENT-POP-004", "CLIENT-POP-005"),
        fault=_other(ACK, "topic", lambda topic: f"{topic}x"),
    ),
    WrongClient(
        id="failed_is_acknowledged",
        description="a failed message is acknowledged",
        caught_by=("CLIENT-POP-006", "CLIENT-POP-007"),
        fault=_as(CHANGE, ACK),
    ),
    WrongClient(
        id="failed_is_sent_back",
        description="a failed message is sent back",
        caught_by=("CLIENT-POP-006",),
        fault=_as(CHANGE, RequestCode.CONSUMER_SEND_MSG_BACK),
    ),
    WrongClient(
        id="failed_for_one_second",
        description="every failed message stays invisible for a second",
        caught_by=("CLIENT-POP-007",),
        fault=_with(CHANGE, invisibleTime="1000"),
    ),
    WrongClient(
        id="late_is_acknowledged",
        description="the message before is acknowledged as well",
        caught_by=("CLIENT-POP-008", "CLIENT-POP-009"),
        fault=_and_before,
    ),
    WrongClient(
        id="never_acknowledges",
        description="no message is acknowledged",
        caught_by=("CLIENT-POP-010", "CLIENT-POP-011"),
        fault=_without(ACK),
    ),
    WrongClient(
        id="pop_twice",
        description="a queue is popped again without waiting",
        caught_by=("CLIENT-POP-012",),
        fault=_twice(POP),
    ),
    WrongClient(
        id="assignment_always",
        description="assigned queues are requested by every consumer",
        caught_by=("CLIENT-POP-013",),
        fault=_assign_at_heartbeat,
    ),
    WrongClient(
        id="commit_of_a_popped_queue",
        description="an offset of the popped queue is committed at the end",
        caught_by=("CLIENT-POP-014",),
        fault=_commit_at_end,
    ),
    WrongClient(
        id="message_twice",
        description="each message is sent twice",
        caught_by=("CLIENT-RETRY-018",),
        fault=_twice(SEND),
    ),
    WrongClient(
        id="message_never",
        description="no message is sent",
        caught_by=("CLIENT-RETRY-019",),
        fault=_without(SEND),
    ),
)
WRONG_CLIENTS: Mapping[str, WrongClient] = {one.id: one for one in _EVERY}
"""Every wrong client by its id."""
