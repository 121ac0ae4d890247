"""
Heartbeats: the groups of a client, sent to brokers every 30 seconds.

Without them a broker sends no transaction checks and no notification of changed
consumer ids. A failed heartbeat is not repeated; the next one follows.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.requests import client_request
from reference.core.client.remoting.rpc_client import Callback, Result, RpcClient
from reference.core.client.route.routes import Routes
from spec.client.liveness import (
    FIRST_HEARTBEAT_MS,
    HEARTBEAT_PERIOD_MS,
    HEARTBEAT_TIMEOUT_MS,
)
from spec.wire.bodies.heartbeat import Heartbeat
from spec.wire.bodies.json_body import encode_body
from spec.wire.remoting.request_code import RequestCode


def _ignore(_result: Result, _now_ms: int) -> None:
    """Ignore the result of a request."""


class HeartbeatService:
    """Registers the groups of a client with brokers."""

    def __init__(
        self,
        rpc: RpcClient,
        routes: Routes,
        heartbeat: Callable[[], Heartbeat],
        callback: Callback = _ignore,
        *,
        period_ms: int = HEARTBEAT_PERIOD_MS,
    ) -> None:
        self._rpc = rpc
        self._routes = routes
        self._heartbeat = heartbeat
        self._callback = callback
        self._period_ms = period_ms

    def start(self, now_ms: int) -> None:
        """Send heartbeats periodically."""
        first_ms = now_ms + FIRST_HEARTBEAT_MS  # [CLIENT-HEARTBEAT-001]
        send = self.send_heartbeats
        self._rpc.timers.call_every(self._period_ms, send, first_ms=first_ms)

    def send_heartbeats(self, now_ms: int) -> None:
        """Send a heartbeat to every master, and to slaves if the client consumes."""
        heartbeat = self._heartbeat()
        request = client_request(RequestCode.HEART_BEAT, body=encode_body(heartbeat))
        consumes = bool(heartbeat.consumers)
        for address in self._routes.brokers() if consumes else self._routes.masters():
            until_ms = now_ms + HEARTBEAT_TIMEOUT_MS
            callback = self._record_version(address)
            self._rpc.invoke(address, request, callback, until_ms=until_ms)

    def _record_version(self, address: str) -> Callback:
        def callback(result: Result, now_ms: int) -> None:
            if not isinstance(result, Failure):
                self._routes.versions[address] = result.version
            self._callback(result, now_ms)

        return callback

    def unregister(self, now_ms: int) -> None:
        """Send UNREGISTER_CLIENT to every broker."""
        heartbeat = self._heartbeat()
        groups = [("producerGroup", one.group) for one in heartbeat.producers]
        groups += [("consumerGroup", one.group) for one in heartbeat.consumers]
        for name, group in groups:
            fields = {"clientID": heartbeat.client_id, name: group}
            request = client_request(RequestCode.UNREGISTER_CLIENT, fields)
            for address in self._routes.brokers():  # [CLIENT-HEARTBEAT-002]
                until_ms = now_ms + HEARTBEAT_TIMEOUT_MS
                self._rpc.invoke(address, request, _ignore, until_ms=until_ms)
