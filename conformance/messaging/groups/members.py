"""Members of a group: their heartbeats, their ids, and their notifications."""

from __future__ import annotations

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import (
    Client,
    body_of,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.client.transcript import Transcript
from conformance.harness.pytest_plugin.expectations import expect, expect_request
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CHANGED = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
QUIET_S = 0.3


def id_of(name: str, group: str) -> str:
    """Return the client id of the member *name*, which no other group has."""
    return f"{name}@{group}"


def ids_of(group: str, *names: str) -> list[str]:
    """Return the client ids of the members *names*, sorted."""
    return sorted(id_of(name, group) for name in names)


def join(client: Client, group: str, name: str, *topics: str) -> None:
    """Send the heartbeat of the member *name*, a consumer of *topics*."""
    subscriptions = [subscription_data(topic=topic) for topic in topics]
    consumer = consumer_data(group=group, subscriptions=subscriptions)
    require_success(
        client.heartbeat(client_id=id_of(name, group), consumers=[consumer])
    )


def members(client: Client, group: str) -> list[str]:
    """Return the ids of the members of *group*, sorted."""
    response = client.consumer_list(group=group)
    if response.code != ResponseCode.SUCCESS:
        return []
    found = body_of(response)
    assert isinstance(found, dict)
    return sorted(found["consumerIdList"])


def need_open(client: Client) -> None:
    """End the test without a verdict if the broker closed a member's connection."""
    if client.peer.received_close(QUIET_S):
        blocked("blocked by GROUP-MEMBER-011: a member's connection is closed")


def expect_notification(
    client: Client, group: str, clause: str, *, cause: Transcript | None = None
) -> None:
    """Fail *clause* unless the member is notified, oneway, of its group's change.

    *cause* is the conversation with the request that changed the group.
    """
    request = expect_request(clause, client, CHANGED, transcript=cause)
    expect(
        clause,
        found=(request.fields.get("consumerGroup"), request.is_oneway),
        expected=(group, True),
        what="consumerGroup, and whether the notification is oneway",
        transcript=client.transcript,
    )
