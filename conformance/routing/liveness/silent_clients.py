"""Two minutes without heartbeats of a consumer and of a producer, seen by threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import pytest

from conformance.harness.client.client import (
    Client,
    body_of,
    consumer_data,
    require_success,
)
from conformance.harness.pytest_plugin.fixtures import unique_name, watched_target
from conformance.routing.liveness.silence import (
    CLOCK_RATE,
    RENEWAL_PERIOD_S,
    Chore,
    Seen,
    Watch,
    is_closed,
    observe,
    talking,
    ticks,
)
from spec.wire.bodies.json_object import JsonObject, as_object, list_in
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

MEMBER_EXPIRY = "GROUP-MEMBER-013"
PRODUCER_EXPIRY = "GROUP-MEMBER-015"


def watch_members(config: pytest.Config, ending: threading.Event) -> Seen:
    """Return the events of two consumers of a group, one without heartbeats."""
    return _watch_clients(config, ending, MEMBER_EXPIRY, _CONSUMERS)


def watch_producers(config: pytest.Config, ending: threading.Event) -> Seen:
    """Return the events of two producers of a group, one without heartbeats."""
    return _watch_clients(config, ending, PRODUCER_EXPIRY, _PRODUCERS)


def _watch_clients(
    config: pytest.Config, ending: threading.Event, clause_id: str, kind: _Kind
) -> Seen:
    """Join a group twice, send heartbeats of one client, and return the events."""
    with ExitStack() as stack:
        target, rate = stack.enter_context(watched_target(config, CLOCK_RATE))
        silent, renewing = (
            stack.enter_context(target.connect_to_broker()) for _ in range(2)
        )
        group = unique_name("group")
        renew = partial(kind.join, renewing, group, "renewing")
        kind.join(silent, group, "silent")
        renew()
        question = Command(code=kind.code, fields={kind.field: group})
        left = partial(_has_left, kind, renewing, group)
        return observe(
            ticks(ending, rate),
            [talking(silent.peer, question), Chore(RENEWAL_PERIOD_S, renew)],
            removed=Watch(partial(left, "silent")),
            dropped=Watch(partial(is_closed, silent.peer)),
            missed={clause_id: Watch(partial(left, "renewing"))},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of clients: its heartbeat, and the request for the members of a group."""

    join: Callable[[Client, str, str], None]
    code: RequestCode
    field: str
    """Name of the field with the group."""
    client_ids: Callable[[JsonObject], list[object]]


def _join_consumers(client: Client, group: str, client_id: str) -> None:
    consumer = consumer_data(group=group)
    require_success(client.heartbeat(client_id=client_id, consumers=[consumer]))


def _join_producers(client: Client, group: str, client_id: str) -> None:
    require_success(client.heartbeat(client_id=client_id, producer_groups=[group]))


def _connected_ids(body: JsonObject) -> list[object]:
    return [as_object(one).get("clientId") for one in list_in(body, "connectionSet")]


_CONSUMERS = _Kind(
    join=_join_consumers,
    code=RequestCode.GET_CONSUMER_LIST_BY_GROUP,
    field="consumerGroup",
    client_ids=partial(list_in, field="consumerIdList"),
)
_PRODUCERS = _Kind(
    join=_join_producers,
    code=RequestCode.GET_PRODUCER_CONNECTION_LIST,
    field="producerGroup",
    client_ids=_connected_ids,
)


def _has_left(kind: _Kind, client: Client, group: str, client_id: str) -> bool:
    response = client.invoke(kind.code, {kind.field: group})
    if response.code == ResponseCode.SYSTEM_ERROR:  # as of a group without members
        return True
    found = as_object(body_of(require_success(response)))
    return client_id not in kind.client_ids(found)
