"""
Signs of a narrow defect in the frames of a test.

Such a defect of the baseline explains only failures of tests that met it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from conformance.harness.client.exchanges import commands_or_none, exchanges
from conformance.harness.client.requests.routes import names_brokers
from conformance.harness.client.transcript import Direction, Entry, Transcript
from spec.wire.remoting.command import Command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

HELD = (RequestCode.PULL_MESSAGE, RequestCode.POP_MESSAGE, RequestCode.NOTIFICATION)
"""Requests that a broker may hold."""


def clauses_seen_in(transcripts: Sequence[Transcript]) -> set[str]:
    """Return the clauses of narrow defects of which *transcripts* have a sign.

    A response has the opaque of no earlier request or of a oneway one, or is followed
    by bytes that are no frame. A request has a ROCKETMQ header, or gets no response
    and no broker may hold it. A route names no broker. Nothing is known of a connection
    behind a request that cannot be read.
    """
    seen = {clause for one in transcripts for clause in _of_frames(one)}
    if any(map(_is_empty_route, _last_routes(transcripts))):
        seen.add("ROUTE-DATA-003")
    return seen


def _last_routes(transcripts: Sequence[Transcript]) -> Collection[Command]:
    """Return the last response of each topic's route: earlier ones were waits."""
    routes = {
        sent.fields.get("topic"): response
        for sent, response in exchanges(transcripts)
        if sent.code == RequestCode.GET_ROUTEINFO_BY_TOPIC
    }
    return routes.values()


def _is_empty_route(response: Command) -> bool:
    is_empty = not response.body or not names_brokers(response)
    return response.code == ResponseCode.SUCCESS and is_empty


def _of_frames(transcript: Transcript) -> Iterator[str]:
    sent: dict[int, Command] = {}
    commands = [*commands_or_none(transcript)]
    for entry, command in commands:
        if entry.direction is Direction.SENT:
            if command is None:
                return
            sent[command.opaque] = command
            if command.serialize_type == SerializeType.ROCKETMQ:
                yield "WIRE-BINARY-001"
        elif command is None:
            if entry.data:
                yield "WIRE-FRAME-004"
        elif command.is_response and command.opaque not in sent:
            yield "WIRE-COMMAND-003"
        elif command.is_response and sent[command.opaque].is_oneway:
            yield "WIRE-COMMAND-002"
    waiting = _unanswered(commands)
    if any(not (one.is_oneway or one.code in HELD) for one in waiting):
        yield "WIRE-COMMAND-009"


def unanswered_in(transcript: Transcript) -> list[Command]:
    """Return the requests without a response, also held and oneway ones.

    Nothing is known of a connection behind a request that cannot be read.
    """
    return _unanswered(commands_or_none(transcript))


def _unanswered(commands: Iterable[tuple[Entry, Command | None]]) -> list[Command]:
    sent: dict[int, Command] = {}
    for entry, command in commands:
        if entry.direction is Direction.SENT:
            if command is None:
                return []
            sent[command.opaque] = command
        elif command is not None and command.is_response:
            sent.pop(command.opaque, None)
    return [one for one in sent.values() if not one.is_response]
