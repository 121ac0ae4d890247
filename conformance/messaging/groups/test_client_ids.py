"""Client ids of members: two connections may have the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.address import in_one_form
from conformance.harness.client.client import (
    Client,
    body_of,
    consumer_data,
    require_success,
)
from conformance.harness.pytest_plugin.expectations import expect
from conformance.messaging.groups.members import (
    QUIET_S,
    ids_of,
    join,
    members,
    need_open,
)
from spec.wire.remoting.response_code import ResponseCode


def connections_of(client: Client, group: str) -> list[tuple[str, str]]:
    """Return client id and address of each member of *group*, sorted."""
    response = client.consumer_connections(group=group)
    if response.code != ResponseCode.SUCCESS:
        return []
    found = body_of(response)
    assert isinstance(found, dict)
    return sorted(
        (one["clientId"], in_one_form(one["clientAddr"]))
        for one in found["connectionSet"]
    )


@pytest.mark.clause("GROUP-MEMBER-011")
@pytest.mark.parametrize("groups", ["one group", "two groups"])
def test_two_connections_may_have_the_same_client_id(
    broker: Client, group: str, unique: Callable[[str], str], groups: str
) -> None:
    other = group if groups == "one group" else unique("group")
    client_id = unique("client")
    expected: dict[str, list[tuple[str, str]]] = {group: [], other: []}
    with broker.another() as second:
        for client, name in ((broker, group), (second, other)):
            expected[name].append((client_id, str(client.peer.local_address)))
            consumer = consumer_data(group=name)
            require_success(client.heartbeat(client_id=client_id, consumers=[consumer]))
        expect(
            "GROUP-MEMBER-011",
            found=broker.peer.received_close(QUIET_S),
            expected=False,
            what=f"whether the first of two connections with the client id {client_id}"
            " was closed",
            transcript=broker.transcript,
        )
        expect(
            "GROUP-MEMBER-011",
            found={name: connections_of(second, name) for name in expected},
            expected={name: sorted(ends) for name, ends in expected.items()},
            what="client id and address of the members, by group",
            transcript=second.transcript,
        )


@pytest.mark.clause("GROUP-MEMBER-012")
def test_a_client_id_of_two_connections_is_listed_twice(
    broker: Client, group: str
) -> None:
    with broker.another() as second:
        join(broker, group, "same")
        join(second, group, "same")
        need_open(broker)
        expect(
            "GROUP-MEMBER-012",
            found=members(second, group),
            expected=ids_of(group, "same", "same"),
            what="client ids of the members",
            transcript=second.transcript,
        )
