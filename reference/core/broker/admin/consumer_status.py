"""
INVOKE_BROKER_TO_GET_CONSUMER_STATUS: offsets as the clients of a group report them.

The broker sends a request to every client of the group and collects the responses. A
client that does not respond in five seconds is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from reference.core.broker.group.clients import Client
from reference.core.broker.ports import Ports
from reference.core.broker.state import BrokerState
from reference.core.remoting.refused import Refused
from reference.core.remoting.request import Request
from reference.core.remoting.response import SYSTEM_ERROR, Response
from reference.core.remoting.server import RemotingServer
from spec.wire.bodies import fastjson
from spec.wire.remoting.request_code import RequestCode

TIMEOUT_MS = 5_000


def consumer_status(
    state: BrokerState, ports: Ports, request: Request
) -> Response | None:
    """Respond with the offsets of a group's clients, or of the one that is named."""
    name = request.text("group")
    only = (request.optional_text("clientAddr") or "").strip()
    group = state.clients.consumers.get(name)
    if group is None:
        remark = f"No Any Consumer online in the consumer group: [{name}]"
        raise Refused(SYSTEM_ERROR, remark)
    clients = [one for one in group.members.values() if only in {"", one.client_id}]
    if not clients:
        return Response(body=fastjson.dumps({"consumerTable": {}}))
    _Collection(ports.remoting, request).begin(clients)  # [ADMIN-CLIENT-003]
    return None


class _Collection:
    """The responses of several clients, until all have come or timed out."""

    def __init__(self, remoting: RemotingServer, request: Request) -> None:
        self._remoting = remoting
        self._request = request
        self._open_count = 0
        self._table: dict[str, object] = {}

    def begin(self, clients: Sequence[Client]) -> None:
        """Send the request to *clients*, of which there is at least one."""
        fields = {name: self._request.text(name) for name in ("topic", "group")}
        self._open_count = len(clients)
        for client in clients:
            self._remoting.invoke(
                client.connection,
                RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
                fields,
                on_response=partial(self._on_response, client.client_id),
                timeout_at_ms=self._request.now_ms + TIMEOUT_MS,
            )

    def _on_response(self, client_id: str, response: Request | None) -> None:
        try:
            if response is not None and response.code == 0 and response.body:
                body = fastjson.loads(response.body)
                if isinstance(body, dict):
                    self._table[client_id] = body.get("messageQueueTable") or {}
        finally:  # an unreadable response must not keep the others back
            self._open_count -= 1
            if self._open_count == 0:
                collected = {"consumerTable": self._table, "messageQueueTable": {}}
                collection = Response(body=fastjson.dumps(collected))
                self._remoting.respond(self._request, collection)
