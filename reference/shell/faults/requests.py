"""Faults of responses: handlers that refuse requests, and routes that are wrong."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from msgspec import structs

from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from reference.core.remoting.server import Handler, RemotingServer, SequenceHandler
from reference.shell.faults.switch import FaultSwitch, refuse_faults
from spec.routing.route_data import BrokerData, decode_route, encode_route
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

SENDS = (
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
)
PULLS = (RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE)
REFUSED = {
    # 4.6.0 org.apache.rocketmq.broker.latency.BrokerFastFailure
    "busy": (ResponseCode.SYSTEM_BUSY, "[TIMEOUT_CLEAN_QUEUE]broker busy"),
    "error": (ResponseCode.SYSTEM_ERROR, "a fault of rmqc serve"),
}
UPDATE, GET = int(RequestCode.UPDATE_BROKER_CONFIG), int(RequestCode.GET_BROKER_CONFIG)
NO_BROKER = "127.0.0.1:1"
"""Address of the broker in stale routes; no program listens on port 1."""


def add_broker_faults(server: RemotingServer, switch: FaultSwitch) -> None:
    """Wrap the handlers of a broker."""
    refused = set(REFUSED)
    names = {
        **{int(code): {*refused, "flush-timeout"} for code in SENDS},
        **{int(code): refused for code in PULLS},
    }
    wrap = {UPDATE: switch.around_update, GET: switch.around_get}
    single = {code: _one(handler) for code, handler in server.sequence_handlers.items()}
    server.sequence_handlers = {}
    server.handlers = {
        code: _around(handler, switch, names[code]) if code in names else handler
        for code, handler in {**server.handlers, **single}.items()
    } | {code: around(server.handlers[code]) for code, around in wrap.items()}


def add_refusal(server: RemotingServer) -> None:
    """Refuse faults on a broker that cannot have them."""
    server.handlers = {
        **server.handlers,
        UPDATE: refuse_faults(server.handlers[UPDATE]),
    }


def add_route_faults(server: RemotingServer, switch: FaultSwitch) -> None:
    """Wrap the handler of routes of a name server."""
    code = int(RequestCode.GET_ROUTEINFO_BY_TOPIC)
    server.handlers = {
        **server.handlers,
        code: _around_route(server.handlers[code], switch),
    }


def _around(handler: Handler, switch: FaultSwitch, names: Collection[str]) -> Handler:
    def handle(request: Request) -> Response | None:
        fault = switch.draw(names)
        if fault is None:
            return handler(request)
        if fault.name in REFUSED:
            return Response(*REFUSED[fault.name])
        return _unflushed(handler(request))

    return handle


def _one(handler: SequenceHandler) -> Handler:
    """Return the handler of a sequence of one, which may have a fault of its own."""
    return lambda request: handler([request])[0]


def _unflushed(response: Response | None) -> Response | None:
    """Return the response of a send whose flush has timed out."""
    if response is None or response.code != ResponseCode.SUCCESS:
        return response
    return structs.replace(
        response, code=ResponseCode.FLUSH_DISK_TIMEOUT, template=None
    )


def _around_route(handler: Handler, switch: FaultSwitch) -> Handler:
    def handle(request: Request) -> Response | None:
        fault = switch.draw({"no-route", "stale-route"})
        if fault is not None and fault.name == "no-route":
            topic = request.fields.get("topic")
            remark = f"No topic route info in name server for the topic: {topic}"
            return Response(ResponseCode.TOPIC_NOT_EXIST, remark)
        response = handler(request)
        if fault is None or response is None or response.code != ResponseCode.SUCCESS:
            return response
        return structs.replace(response, body=_stale(response.body))

    return handle


def _stale(body: bytes) -> bytes:
    """Return the route with one more broker, which does not exist."""
    route = decode_route(body)
    queues, broker = route.queue_datas[0], route.broker_datas[0]
    name = f"{broker.broker_name}-gone"
    gone = BrokerData(
        cluster=broker.cluster, broker_name=name, addresses={0: NO_BROKER}
    )
    return encode_route(
        replace(
            route,
            queue_datas=(*route.queue_datas, replace(queues, broker_name=name)),
            broker_datas=(*route.broker_datas, gone),
        )
    )
