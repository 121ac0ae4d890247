"""
A client's groups, told to brokers: a heartbeat every 30 seconds, and a word at the end.

Without them a broker asks nobody about a transaction, and tells no consumer who else
reads. A broker that does not answer will hear the next one.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.client.asking import Asker, Outcome, Then
from reference.core.client.failure import Failure
from reference.core.client.requests import command
from reference.core.client.routes import Routes
from spec.client.liveness import (
    FIRST_HEARTBEAT_MS,
    HEARTBEAT_PERIOD_MS,
    HEARTBEAT_TIMEOUT_MS,
)
from spec.wire.heartbeat import Heartbeat
from spec.wire.json_body import encode_body
from spec.wire.request_code import RequestCode


class Membership:
    """Says at every broker which groups the client is in."""

    def __init__(
        self,
        asker: Asker,
        routes: Routes,
        heartbeat: Callable[[], Heartbeat],
        then: Then | None = None,
        *,
        period_ms: int = HEARTBEAT_PERIOD_MS,
    ) -> None:
        self._asker = asker
        self._routes = routes
        self._heartbeat = heartbeat
        self._then = then or _ignored
        self._period_ms = period_ms

    def start(self, now_ms: int) -> None:
        """Send heartbeats from now on."""
        first_ms = now_ms + FIRST_HEARTBEAT_MS  # [CLIENT-HEARTBEAT-001]
        self._asker.schedule.every(self._period_ms, self.beat, first_ms=first_ms)

    def beat(self, now_ms: int) -> None:
        """Send a heartbeat to every broker that is to know."""
        says = self._heartbeat()
        asked = command(RequestCode.HEART_BEAT, body=encode_body(says))
        consumes = bool(says.consumers)
        for address in self._routes.brokers() if consumes else self._routes.masters():
            until_ms = now_ms + HEARTBEAT_TIMEOUT_MS
            self._asker.ask(address, asked, self._noting(address), until_ms=until_ms)

    def _noting(self, address: str) -> Then:
        """Return what notes the answer of the broker at *address*."""

        def note(outcome: Outcome, now_ms: int) -> None:
            if not isinstance(outcome, Failure):
                self._routes.versions[address] = outcome.version
            self._then(outcome, now_ms)

        return note

    def leave(self, now_ms: int) -> None:
        """Tell every broker that the client ends."""
        says = self._heartbeat()
        groups = [("producerGroup", one.group) for one in says.producers]
        groups += [("consumerGroup", one.group) for one in says.consumers]
        for name, group in groups:
            fields = {"clientID": says.client_id, name: group}
            asked = command(RequestCode.UNREGISTER_CLIENT, fields)
            for address in self._routes.brokers():  # [CLIENT-HEARTBEAT-002]
                until_ms = now_ms + HEARTBEAT_TIMEOUT_MS
                self._asker.ask(address, asked, _ignored, until_ms=until_ms)


def _ignored(_outcome: Outcome, _now_ms: int) -> None:
    """Do nothing: whoever was not reached hears the next heartbeat."""
