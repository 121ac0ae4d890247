"""
How far a group's clients say that they are, each for itself.

A tool asks the broker, the broker asks every client of the group, and puts together
what they answer. Who does not answer in five seconds is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, encode_call, refusal
from reference.core.broker.clients import Client
from reference.core.request import Request
from spec.wire import fastjson
from spec.wire.request_code import RequestCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

PATIENCE_MS = 5_000


class Survey:
    """One question to several clients, until all have answered or time is up."""

    def __init__(self, broker: Broker, request: Request) -> None:
        self._broker = broker
        self._request = request
        self._waiting: set[str] = set()
        self._found: dict[str, object] = {}
        self._is_over = False

    def begin(self, clients: Sequence[Client]) -> None:
        """Ask *clients*, of which there is at least one."""
        fields = {
            "topic": self._request.text("topic"),
            "group": self._request.text("group"),
        }
        self._waiting = {client.client_id for client in clients}
        for client in clients:
            number = self._broker.expect(partial(self._heard, client.client_id))
            code = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
            self._broker.send(
                client.connection, encode_call(code, fields, opaque=number)
            )
        overdue_ms = self._request.now_ms + PATIENCE_MS
        self._broker.schedule.at(overdue_ms, lambda _: self._end())

    def _heard(self, client_id: str, response: Request) -> None:
        if response.code == 0 and response.body:
            body = fastjson.loads(response.body)
            if isinstance(body, dict):
                self._found[client_id] = body.get("messageQueueTable") or {}
        self._waiting.discard(client_id)
        if not self._waiting:
            self._end()

    def _end(self) -> None:
        """Answer who asked, unless that is done."""
        if self._is_over:
            return
        self._is_over = True
        body = {"consumerTable": self._found, "messageQueueTable": {}}
        self._broker.answer_later(self._request, Answer(body=fastjson.dumps(body)))


def consumer_status(broker: Broker, request: Request) -> Answer | None:
    """Ask a group's clients, or the one that is named, how far they are."""
    name = request.text("group")
    only = (request.optional_text("clientAddr") or "").strip()
    group = broker.clients.consumers.get(name)
    if group is None:
        remark = f"No Any Consumer online in the consumer group: [{name}]"
        return refusal(SYSTEM_ERROR, remark)
    members = group.members.values()
    wanted = [one for one in members if only in {"", one.client_id}]
    if not wanted:
        return Answer(body=fastjson.dumps({"consumerTable": {}}))
    Survey(broker, request).begin(wanted)  # [ADMIN-CLIENT-003]
    return None
