"""
INVOKE_BROKER_TO_GET_CONSUMER_STATUS: offsets as the clients of a group report them.

The broker sends a request to every client of the group and collects the responses. A
client that does not respond in five seconds is left out.
"""

from __future__ import annotations

from functools import partial

from reference.core.broker.group.clients import Client
from reference.core.broker.ports import Ports
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response
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
    table: dict[str, object] = {}
    waiting = [client.connection for client in clients]

    def on_response(client: Client, response: Request | None) -> None:
        waiting.remove(client.connection)
        try:
            if response is not None and response.code == 0 and response.body:
                found = fastjson.loads(response.body)
                if isinstance(found, dict):
                    table[client.client_id] = found.get("messageQueueTable") or {}
        finally:  # an unreadable response must not keep the others back
            if not waiting:
                collected = {"consumerTable": table, "messageQueueTable": {}}
                ports.remoting.respond(
                    request, Response(body=fastjson.dumps(collected))
                )

    fields = {name: request.text(name) for name in ("topic", "group")}
    for client in clients:  # [ADMIN-CLIENT-003]
        ports.remoting.invoke(
            client.connection,
            RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
            fields,
            on_response=partial(on_response, client),
            timeout_at_ms=request.now_ms + TIMEOUT_MS,
        )
    return None
